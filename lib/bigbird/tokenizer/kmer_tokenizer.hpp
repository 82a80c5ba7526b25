// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/tokenizer.hpp"

#include <optional>

namespace bigbird::tokenizer {

/// Single bases (k = 1) or k-mers that do not overlap, as KmerEncoder cuts them. Its file is a
/// tokenizer.json, from which DnaTokenizer::load makes the same tokenizer. Throws ConfigError where k is not
/// in [1, 12].
DnaTokenizer kmer_tokenizer(int k);

/// The k of such a tokenizer, nothing of any other.
std::optional<int> kmer_length(const DnaTokenizer& tokenizer);

}  // namespace bigbird::tokenizer
