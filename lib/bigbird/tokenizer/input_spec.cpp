// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/input_spec.hpp"

#include "bigbird/tokenizer/kmer_tokenizer.hpp"

#include <string>

namespace bigbird::tokenizer {

void InputSpec::validate() const {
    if (kmer_length && input != Input::kmers) {
        throw ConfigError("--kmer-length is for --input kmers");
    }
    if (input != Input::tokens && !tokenizer.empty()) {
        throw ConfigError("--tokenizer is for --input tokens; --input " +
                          std::string(word_of(inputs, input)) + " needs none");
    }
}

DnaTokenizer InputSpec::open() const {
    validate();
    if (!names_tokenizer()) {
        throw ConfigError("--tokenizer MODEL is needed, or --input bases, or --input kmers");
    }
    switch (input) {
        case Input::bases:
            return kmer_tokenizer(1);
        case Input::kmers:
            return kmer_tokenizer(kmer_length.value_or(default_kmer_length));
        case Input::tokens:
            break;
    }
    return DnaTokenizer::load(tokenizer);
}

}  // namespace bigbird::tokenizer
