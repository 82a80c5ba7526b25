// SPDX-License-Identifier: Apache-2.0
// Vectors of words that are not those of any id: how a network of tokens is a function with gradients.
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

/// While one lives, encoders that this thread runs take these vectors, (batch, length, hidden), for the word
/// embeddings of EncoderInput::input_ids; positions, token types and masks stay.
class WordVectors {
public:
    explicit WordVectors(at::Tensor vectors);
    ~WordVectors();
    WordVectors(const WordVectors&) = delete;
    WordVectors& operator=(const WordVectors&) = delete;

    /// Those of this thread; undefined: none.
    static const at::Tensor& current();

private:
    at::Tensor before_;
};

}  // namespace bigbird::model
