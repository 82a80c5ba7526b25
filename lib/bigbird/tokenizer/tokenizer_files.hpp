// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <filesystem>

namespace bigbird::tokenizer {

/// Writes tokenizer.model (not where the tokenizer came from a tokenizer.json), tokenizer.json and
/// tokenizer_config.json into an existing folder, whatever lies there: what a model folder carries, and with
/// what transformers' AutoTokenizer gives the same ids between [CLS] and [SEP]. `max_length` is the longest
/// sequence, in tokens, of the network beside it. Throws WriteError.
void write_tokenizer_files(const DnaTokenizer& tokenizer, std::int64_t max_length,
                           const std::filesystem::path& folder);

}  // namespace bigbird::tokenizer
