// SPDX-License-Identifier: Apache-2.0
// tokenizer.json of single bases and k-mers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bigbird::tokenizer {

/// tokenizer.json with which transformers' AutoTokenizer gives KmerEncoder's ids between [CLS] and [SEP], for
/// ASCII text: the k-mers are words of a WordLevel model, a regular expression cuts them. Throws ConfigError
/// if KmerEncoder does not support k.
std::string kmer_json(int k);

/// Returns the k whose kmer_json() is equivalent to `text`, with any order of keys and spacing; nullopt if
/// there is none.
std::optional<int> kmer_length_of_json(std::string_view text);

}  // namespace bigbird::tokenizer
