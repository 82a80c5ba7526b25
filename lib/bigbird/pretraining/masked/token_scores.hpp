// SPDX-License-Identifier: Apache-2.0
// The scores of each masked token, for `evaluate-mlm --token-scores`, so that parts of the sequence can be
// evaluated separately.
#pragma once

#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::pretraining {

struct TokenScore {
    std::int64_t token = 0;  ///< index in the corpus
    double nats = 0;         ///< -ln p of the true token
    bool correct = false;    ///< whether the true token is the most likely
};

/// Writes one line per score in the order of the corpus, tab-separated, below the header
/// "#document sentence start end piece bits correct". Documents, and the sentences of one, are counted from
/// 1; start and end are 0-based half-open in the sentence; bits: -log2 p; correct: 1 or 0. A token in several
/// sequences has one line per sequence. The output is not committed. Throws WriteError.
void write_token_scores(std::vector<TokenScore> scores, const corpus::TokenCorpus& corpus,
                        const tokenizer::DnaTokenizer& tokenizer, genome::TextOutput& output);

}  // namespace bigbird::pretraining
