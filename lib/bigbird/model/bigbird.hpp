// SPDX-License-Identifier: Apache-2.0
// The network, with Hugging Face's parameter names (bigbird.md, 1.2): named_parameters() gives the keys of
// model.safetensors. Parameters start at zero: initialise() or the functions of model_directory.hpp fill
// them. module->train() and eval() choose whether there is dropout.
#pragma once

#include "bigbird/model/encoder.hpp"
#include "bigbird/model/heads.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <optional>

namespace bigbird::model {

struct PreTrainingOutput {
    at::Tensor prediction_logits;        // (chosen, vocab) of the chosen positions, or (batch, length, vocab)
    at::Tensor seq_relationship_logits;  // (batch, 2); 0 = true next
};

struct PreTrainingLoss {
    at::Tensor nats;                     // (): sum of -ln p over the chosen positions, float32
    at::Tensor token_nats;               // (chosen) float32, without gradient and weight
    at::Tensor token_correct;            // (chosen) bool: whether the network finds the token
    at::Tensor seq_relationship_logits;  // (batch, 2)
};

/// A network around the encoder, "bert". Calls throw InputError where a sequence is longer than
/// max_position_embeddings. In training the pattern `hf` attends the seeded lists, as transformers does.
class WithEncoder : public torch::nn::Module {
public:
    EncoderOutput encode(const EncoderInput& input, bool all_hidden_states = false,
                         const DropoutKey& key = {}) {
        return bert_->forward(input, all_hidden_states, key);
    }
    const BigBirdConfig& config() const { return bert_->config(); }
    void set_attention_backend(attention::Backend backend) { bert_->set_attention_backend(backend); }

protected:
    explicit WithEncoder(const BigBirdConfig& config)
        : bert_(register_module("bert", BigBirdModel(config))) {}

    BigBirdModel bert_;
};

/// BigBirdForPreTraining: bert + MLM head (decoder tied to the word embeddings) + NSP head.
class PreTrainingModelImpl : public WithEncoder {
public:
    explicit PreTrainingModelImpl(const BigBirdConfig& config);
    /// `positions`: (chosen) int64 indices into batch * length; undefined: all.
    PreTrainingOutput forward(const EncoderInput& input, const at::Tensor& positions = {},
                              const DropoutKey& key = {});
    /// Applies only the heads to encode()'s hidden: (batch, length, hidden).
    PreTrainingOutput predict(const at::Tensor& hidden, const at::Tensor& positions = {});
    /// The tanh pooler's output: (batch, length, hidden) -> (batch, hidden).
    at::Tensor pool(const at::Tensor& hidden) { return bert_->pool(hidden); }
    /// The heads and the loss of the masked tokens, without holding all (chosen, vocab) logits at once.
    /// `labels`: (chosen) int64.
    /// `weights`: (chosen) float32, of each position in nats; undefined: 1.
    PreTrainingLoss loss(const at::Tensor& hidden, const at::Tensor& positions, const at::Tensor& labels,
                         const at::Tensor& weights = {});
    /// Stores only each layer's input and recomputes the layer in the backward pass. This needs less memory
    /// and about a third more time, and gives the same result.
    void set_recompute(bool recompute) { bert_->set_recompute(recompute); }
    /// Whether queries, keys and values come from one product while gradients are enabled
    /// (onednn_linear.hpp). Results are equal up to rounding, and parameters are the same. nullopt: packed on
    /// every device but CPUs.
    void set_packed_projections(std::optional<bool> packed) { bert_->set_packed_projections(packed); }
    /// Only for Performers: selects the draw of random features for all later passes. config() and
    /// config.json record it.
    void set_redraw(std::int64_t redraw) { bert_->set_redraw(redraw); }

private:
    PreTrainingHeads cls_;
};
TORCH_MODULE(PreTrainingModel);

/// BigBirdForSequenceClassification's form and keys (`--head linear`: `out_proj` on the tanh pooler's output;
/// `--head bins`: `LayerNorm`, `out_proj`), or BigBirdForTokenClassification's with the head "tokens".
class SequenceClassifierImpl : public WithEncoder {
public:
    explicit SequenceClassifierImpl(const BigBirdConfig& config);
    at::Tensor forward(const EncoderInput& input, const DropoutKey& key = {});  // (batch, labels) logits
    /// Applies only the head to encode()'s hidden: (batch, length, hidden) -> (batch, labels). The heads of
    /// bins and tokens use the features of each: (batch, count, hidden) -> (batch, count, labels).
    at::Tensor predict(const at::Tensor& hidden, const DropoutKey& key = {});
    /// The parameters that predict(encode()) depends on and that are not frozen.
    std::vector<at::Tensor> trained_parameters() const;
    bool reads_pooler() const { return classifier_->reads_pooler(); }

private:
    ClassificationHead classifier_;
};
TORCH_MODULE(SequenceClassifier);

/// Weights are N(0, initializer_range) or, with fan-in (except embeddings), N(0, 1 / sqrt(inputs)). Biases
/// are 0, LayerNorm 1/0, the rows of [PAD] and of a Longformer's padding position 0. A convolution of
/// embeddings begins near the identity, with small weights of the neighbors. A function only of the seed and
/// the parameter's name, on any device. `prefix` restricts it to parameters whose name starts so.
void initialise(torch::nn::Module& module, const BigBirdConfig& config, std::uint64_t seed,
                const std::string& prefix = {});

}  // namespace bigbird::model
