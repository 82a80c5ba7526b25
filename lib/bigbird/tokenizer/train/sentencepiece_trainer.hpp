// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"
#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/train.hpp"
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include <string>
#include <vector>

namespace bigbird::tokenizer {

/// Trains with the installed SentencePiece library: the readable, slow equivalent of learn_pieces(). Returns
/// the bytes of the .model. Runs in a child process, so no other thread may be running. Throws InputError
/// with the library's message, Stopped.
std::string train_with_sentencepiece(const TrainSpec& spec, const TrainingCorpus& corpus);

/// How the installed library counts (OverlapCounting).
OverlapCounting installed_counting();

/// The model that SentencePiece writes for these pieces and letters, byte for byte as 0.1.97 does.
SentencePieceModel assemble_model(const TrainSpec& spec, const std::vector<std::string>& pieces,
                                  const TrainingCorpus& corpus);

}  // namespace bigbird::tokenizer
