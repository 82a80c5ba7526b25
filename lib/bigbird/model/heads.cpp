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

}  // namespace bigbird::model
