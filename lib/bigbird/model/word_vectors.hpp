// SPDX-License-Identifier: Apache-2.0
// Replacement of word embeddings by given vectors, so that a token model is a differentiable function of its
// input.
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

/// While an object exists, encoders on this thread use these vectors, (batch, length, hidden), instead of the
/// word embeddings of EncoderInput::input_ids. Positions, token types and masks stay.
class WordVectors {
public:
    explicit WordVectors(at::Tensor vectors);
    ~WordVectors();
    WordVectors(const WordVectors&) = delete;
    WordVectors& operator=(const WordVectors&) = delete;

    /// This thread's vectors; undefined if there are none.
    static const at::Tensor& current();

private:
    at::Tensor before_;
};

}  // namespace bigbird::model
