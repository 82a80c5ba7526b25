// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

namespace bigbird::tokenizer {

/// SentencePiece's: any two neighbours whose joint text is a piece, by falling score. Throws InputError
/// naming `origin` where the model is not BPE, or has pieces that this encoder does not know how to treat
/// (user-defined, unused, bytes, letters beyond ASCII).
BpeRules bpe_rules_of(const SentencePieceModel& model, const std::filesystem::path& origin);

}  // namespace bigbird::tokenizer
