// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/testing.hpp"

#include "bigbird/tokenizer/tokenizer.hpp"

namespace bigbird::testing {

/// test_data's tokenizer of 512 pieces.
inline tokenizer::DnaTokenizer small_tokenizer() {
    return tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
}

}  // namespace bigbird::testing
