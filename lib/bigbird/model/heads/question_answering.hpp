// SPDX-License-Identifier: Apache-2.0
// BigBirdForQuestionAnswering: where in the text after a question its answer begins and ends. The question
// reaches up to the first [SEP].
#pragma once

#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace bigbird::model {

/// "qa_classifier.": a feed-forward layer with its residual and LayerNorm, and a layer of two numbers.
class QuestionAnsweringHeadImpl : public torch::nn::Module {
public:
    explicit QuestionAnsweringHeadImpl(const BigBirdConfig& config);
    /// (…, hidden) -> (…, 2): scores of a token as the answer's first and as its last.
    at::Tensor forward(const at::Tensor& hidden) const;

private:
    std::string activation_;
    Linear intermediate_{nullptr}, output_{nullptr}, answers_{nullptr};
    LayerNorm norm_{nullptr};
};
TORCH_MODULE(QuestionAnsweringHead);

/// Number of tokens up to and including the first `sep`; 1 if there is none. ids: (batch, length) -> (batch,
/// 1) int64.
at::Tensor question_lengths(const at::Tensor& ids, std::int64_t sep);

/// 1 for the first lengths[i] tokens of row i, 0 for the others. lengths: (batch, 1) -> (batch, length)
/// int64.
at::Tensor question_mask(const at::Tensor& lengths, std::int64_t length);

/// `logits` (batch, length, 2) with 1e6 subtracted at every token of the question except the first, which
/// means "no answer". question: (batch, length), of question_mask().
at::Tensor without_question(const at::Tensor& logits, const at::Tensor& question);

}  // namespace bigbird::model
