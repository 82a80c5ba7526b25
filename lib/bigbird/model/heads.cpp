// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/heads.hpp"

namespace bigbird::model {

using Place = DropoutSite::Place;

PreTrainingHeadsImpl::PreTrainingHeadsImpl(const BigBirdConfig& config)
    : activation_(config.longformer ? "gelu" : config.hidden_act) {
    const auto predictions = add_group(*this, "predictions");
    bias_ = predictions->register_parameter("bias", at::zeros({config.vocab_size}));
    const auto transform = add_group(*predictions, "transform");
    dense_ = transform->register_module("dense", Linear(config.hidden_size, config.hidden_size));
    norm_ = transform->register_module("LayerNorm", LayerNorm(config.hidden_size, config.layer_norm_eps));
    seq_relationship_ = register_module("seq_relationship", Linear(config.hidden_size, 2));
}

at::Tensor PreTrainingHeadsImpl::predictions(const at::Tensor& hidden,
                                             const at::Tensor& word_embeddings) const {
    return at::linear(transform(hidden), word_embeddings, bias_);
}

at::Tensor PreTrainingHeadsImpl::transform(const at::Tensor& hidden) const {
    return norm_->forward(activation(activation_, dense_->forward(hidden)));
}

at::Tensor PreTrainingHeadsImpl::seq_relationship(const at::Tensor& pooled) const {
    return seq_relationship_->forward(pooled);
}

ClassificationHeadImpl::ClassificationHeadImpl(const BigBirdConfig& config)
    : kind_(config.classifier_head),
      activation_(config.longformer ? "" : config.hidden_act),
      dropout_(config.classifier_dropout.value_or(config.hidden_dropout_prob)) {
    if (kind_ == "classification")
        dense_ = register_module("dense", Linear(config.hidden_size, config.hidden_size));
    if (kind_ == "bins")
        norm_ = register_module("LayerNorm", LayerNorm(config.hidden_size, config.layer_norm_eps));
    if (kind_ == "tokens") {
        out_proj_ = Linear(config.hidden_size, config.num_labels);
        register_parameter("weight", out_proj_->weight);
        register_parameter("bias", out_proj_->bias);
    } else {
        out_proj_ = register_module("out_proj", Linear(config.hidden_size, config.num_labels));
    }
}

at::Tensor ClassificationHeadImpl::forward(const at::Tensor& features, const DropoutKey& key) const {
    const auto drop = [&](const at::Tensor& x, Place place) {
        return is_training() ? dropout(x, dropout_, key, {place}) : x;
    };
    at::Tensor x = drop(norm_ ? norm_->forward(features) : features, Place::classifier_input);
    if (dense_) {
        const at::Tensor y = dense_->forward(x);
        x = drop(activation_.empty() ? at::tanh(y) : activation(activation_, y), Place::classifier_middle);
    }
    return out_proj_->forward(x);
}

namespace {

constexpr double far_below = 1e6;  // transformers' own number

}  // namespace

QuestionAnsweringHeadImpl::QuestionAnsweringHeadImpl(const BigBirdConfig& config)
    : activation_(config.hidden_act) {
    const std::int64_t hidden = config.hidden_size, wide = config.intermediate_size;
    const auto intermediate = add_group(*this, "intermediate");
    intermediate_ = intermediate->register_module("dense", Linear(hidden, wide));
    const auto output = add_group(*this, "output");
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
