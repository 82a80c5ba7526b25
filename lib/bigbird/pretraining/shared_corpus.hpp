// SPDX-License-Identifier: Apache-2.0
// Shares one tokenized corpus among all processes of a machine.
#pragma once

#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/training/ranks/ranks.hpp"

#include <functional>

namespace bigbird::pretraining {

/// The first process of each machine calls `fill` to write the corpus as token shards into a new folder under
/// TMPDIR. All processes of the machine map them, so that the tokens are in memory once. The folder is
/// removed as soon as all have mapped it; a killed process' folder is removed when the next one is made.
/// Collective: all ranks call it. Throws what `fill` throws, ConfigError and WriteError if TMPDIR cannot hold
/// the corpus, InputError where it holds no sequence.
corpus::TokenCorpus share_corpus(training::Ranks& ranks, const tokenizer::DnaTokenizer& tokenizer,
                                 int threads, const std::function<void(corpus::TokenShardWriter&)>& fill);

}  // namespace bigbird::pretraining
