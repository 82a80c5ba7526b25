// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/kmer_tokenizer.hpp"

#include "bigbird/tokenizer/formats/kmer_json.hpp"

namespace bigbird::tokenizer {

DnaTokenizer kmer_tokenizer(int k) {
    return DnaTokenizer::from_serialized(kmer_json(k), "the tokenizer of k-mers");
}

std::optional<int> kmer_length(const DnaTokenizer& tokenizer) {
    return kmer_length_of_json(tokenizer.serialized());
}

}  // namespace bigbird::tokenizer
