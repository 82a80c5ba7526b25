// SPDX-License-Identifier: Apache-2.0
// Heads of the encoder: masked-token and next-sentence prediction, classification of sequences, bins and
// tokens.
#pragma once

#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace bigbird::model {

/// "cls.": predictions (dense, activation, LayerNorm, tied decoder) and seq_relationship. A Longformer's
/// activation is gelu, whatever hidden_act is, as in transformers. Published encoders may have their own
/// activation and a decoder that is not tied (published.hpp).
class PreTrainingHeadsImpl : public torch::nn::Module {
public:
    explicit PreTrainingHeadsImpl(const BigBirdConfig& config);
    at::Tensor predictions(const at::Tensor& hidden,
                           const at::Tensor& word_embeddings) const;  // (…, hidden) -> (…, vocab)
    at::Tensor seq_relationship(const at::Tensor& pooled) const;      // (batch, hidden) -> (batch, 2)
    /// predictions() without its last product: (…, hidden) -> (…, hidden).
    at::Tensor transform(const at::Tensor& hidden) const;
    const at::Tensor& bias() const { return bias_; }  // (vocab)
    /// The last product's weight, (vocab, hidden).
    const at::Tensor& decoder(const at::Tensor& word_embeddings) const {
        return decoder_.defined() ? decoder_ : word_embeddings;
    }

private:
    std::string activation_;
    at::Tensor bias_;     // (vocab)
    at::Tensor decoder_;  // (vocab, hidden); undefined: tied to the word embeddings
    Linear dense_{nullptr}, seq_relationship_{nullptr};
    LayerNorm norm_{nullptr};
};
TORCH_MODULE(PreTrainingHeads);

/// "classifier.": dropout, dense, activation (a Longformer's and ESM's: tanh), dropout, out_proj on the raw
/// first position. classifier_head "linear": dropout and out_proj; "bins": LayerNorm, dropout and out_proj;
/// "probe": out_proj on the first position; "prediction", ModernBERT's: dense, activation, LayerNorm, dropout
/// and out_proj; "tokens": dropout and a layer without a separate name ("classifier.weight"), as in
/// transformers.
class ClassificationHeadImpl : public torch::nn::Module {
public:
    explicit ClassificationHeadImpl(const BigBirdConfig& config);
    at::Tensor forward(const at::Tensor& features,
                       const DropoutKey& key) const;  // (batch, …, hidden) -> (batch, …, labels)
    bool reads_pooler() const { return kind_ == "linear"; }
    bool reads_every_row() const { return kind_ == "bins" || kind_ == "tokens"; }

private:
    std::string kind_, activation_;  // an empty activation: tanh
    double dropout_;
    Linear dense_{nullptr}, out_proj_{nullptr};
    LayerNorm norm_{nullptr}, middle_norm_{nullptr};
};
TORCH_MODULE(ClassificationHead);

}  // namespace bigbird::model
