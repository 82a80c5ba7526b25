// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/heads.hpp"

namespace bigbird::model {

using Place = DropoutSite::Place;

PreTrainingHeadsImpl::PreTrainingHeadsImpl(const BigBirdConfig& config)
    : activation_(config.longformer ? "gelu" : config.hidden_act) {
    const PublishedForm& form = config.form.published;
    if (!form.head_activation.empty()) activation_ = form.head_activation;
    const double epsilon = form.head_norm_eps > 0 ? form.head_norm_eps : config.layer_norm_eps;
    const auto predictions = add_group(*this, "predictions");
    bias_ = predictions->register_parameter("bias", at::zeros({config.vocab_size}));
    if (!form.tied_decoder) {
        decoder_ = add_group(*predictions, "decoder")
                       ->register_parameter("weight", at::zeros({config.vocab_size, config.hidden_size}));
    }
    const auto transform = add_group(*predictions, "transform");
    dense_ =
        transform->register_module("dense", Linear(config.hidden_size, config.hidden_size, form.head_bias));
    norm_ = transform->register_module("LayerNorm", LayerNorm(config.hidden_size, epsilon, form.norm_bias));
    seq_relationship_ = register_module("seq_relationship", Linear(config.hidden_size, 2));
}

at::Tensor PreTrainingHeadsImpl::predictions(const at::Tensor& hidden,
                                             const at::Tensor& word_embeddings) const {
    return at::linear(transform(hidden), decoder(word_embeddings), bias_);
}

at::Tensor PreTrainingHeadsImpl::transform(const at::Tensor& hidden) const {
    return norm_->forward(activation(activation_, dense_->forward(hidden)));
}

at::Tensor PreTrainingHeadsImpl::seq_relationship(const at::Tensor& pooled) const {
    return seq_relationship_->forward(pooled);
}

namespace {

/// Whether transformers' classifier of this family has tanh between its layers.
bool has_tanh(const BigBirdConfig& config) {
    return config.longformer || config.form.published.family == "esm";
}

}  // namespace

ClassificationHeadImpl::ClassificationHeadImpl(const BigBirdConfig& config)
    : kind_(config.classifier_head),
      activation_(has_tanh(config) ? "" : config.hidden_act),
      dropout_(config.classifier_dropout.value_or(config.hidden_dropout_prob)) {
    if (kind_ == "classification")
        dense_ = register_module("dense", Linear(config.hidden_size, config.hidden_size));
    if (kind_ == "prediction") {
        const PublishedForm& form = config.form.published;
        if (!form.head_activation.empty()) activation_ = form.head_activation;
        dense_ = register_module("dense", Linear(config.hidden_size, config.hidden_size, form.head_bias));
        middle_norm_ = register_module("LayerNorm",
                                       LayerNorm(config.hidden_size, config.layer_norm_eps, form.norm_bias));
    }
    if (kind_ == "bins")
        norm_ = register_module("LayerNorm", LayerNorm(config.hidden_size, config.layer_norm_eps));
    if (kind_ == "tokens") {
        out_proj_ = Linear(config.hidden_size, config.num_labels);
        register_parameter("weight", out_proj_->weight);
        register_parameter("bias", out_proj_->bias);
    } else {  // also "probe", which is nothing else
        out_proj_ = register_module("out_proj", Linear(config.hidden_size, config.num_labels));
    }
}

at::Tensor ClassificationHeadImpl::forward(const at::Tensor& features, const DropoutKey& key) const {
    const auto drop = [&](const at::Tensor& x, Place place) {
        return is_training() ? dropout(x, dropout_, key, {place}) : x;
    };
    at::Tensor x = drop(norm_ ? norm_->forward(features) : features, Place::classifier_input);
    if (dense_) {
        at::Tensor y = dense_->forward(kind_ == "prediction" ? features : x);
        y = activation_.empty() ? at::tanh(y) : activation(activation_, y);
        x = drop(middle_norm_ ? middle_norm_->forward(y) : y, Place::classifier_middle);
    }
    return out_proj_->forward(x);
}

}  // namespace bigbird::model
