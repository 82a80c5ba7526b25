// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/heads/question_answering.hpp"

namespace bigbird::model {

namespace {

constexpr double far_below = 1e6;  // transformers' own number

}  // namespace

QuestionAnsweringHeadImpl::QuestionAnsweringHeadImpl(const BigBirdConfig& config)
    : activation_(config.hidden_act) {
    const std::int64_t hidden = config.hidden_size, wide = config.intermediate_size;
    const auto intermediate =
        register_module("intermediate", std::make_shared<torch::nn::Module>("intermediate"));
    intermediate_ = intermediate->register_module("dense", Linear(hidden, wide));
    const auto output = register_module("output", std::make_shared<torch::nn::Module>("output"));
    output_ = output->register_module("dense", Linear(wide, hidden));
    norm_ = output->register_module("LayerNorm", LayerNorm(hidden, config.layer_norm_eps));
    answers_ = register_module("qa_outputs", Linear(hidden, 2));
}

at::Tensor QuestionAnsweringHeadImpl::forward(const at::Tensor& hidden) const {
    const at::Tensor wide = activation(activation_, intermediate_->forward(hidden));
    return answers_->forward(norm_->forward(output_->forward(wide) + hidden));
}

at::Tensor question_lengths(const at::Tensor& ids, std::int64_t sep) {
    return at::argmax(ids.eq(sep).to(at::kInt), 1, true) + 1;
}

at::Tensor question_mask(const at::Tensor& lengths, std::int64_t length) {
    return at::arange(length, lengths.options().dtype(at::kLong)).unsqueeze(0).lt(lengths).to(at::kLong);
}

at::Tensor without_question(const at::Tensor& logits, const at::Tensor& question) {
    at::Tensor mask =
        question.to(logits.device(), logits.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    mask.select(1, 0).zero_();
    return logits - mask.unsqueeze(2) * far_below;
}

}  // namespace bigbird::model
