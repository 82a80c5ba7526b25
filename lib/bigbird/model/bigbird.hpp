// SPDX-License-Identifier: Apache-2.0
// The network, with Hugging Face's parameter names (bigbird.md, 1.2): named_parameters() gives the keys of
// model.safetensors. Parameters start at zero: initialise() or the functions of model_directory.hpp fill
// them. module->train() and eval() choose whether there is dropout.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/dropout.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <optional>

namespace bigbird::model {

/// A batch of sequences with equal block counts, so that results do not depend on the rest of the batch
/// (batching.hpp makes such batches). length is a multiple of the block size. Padding has mask 0.
struct EncoderInput {
    at::Tensor input_ids;       // (batch, length) int64
    at::Tensor token_type_ids;  // (batch, length) int64
    at::Tensor attention_mask;  // (batch, length) bool, true = real token
    /// Only for a Longformer: (batch, length) bool, true = global; undefined: the leading num_global_tokens.
    at::Tensor global_attention_mask = {};
};

struct EncoderOutput {
    at::Tensor hidden;                      // (batch, length, hidden), the last layer
    std::vector<at::Tensor> hidden_states;  // embeddings and the output of every layer, on request
};

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

/// BigBirdForPreTraining: bert + MLM head (decoder tied to the word embeddings) + NSP head. Calls throw
/// InputError where a sequence is longer than max_position_embeddings. In training the pattern `hf` attends
/// the seeded lists, as transformers does.
class PreTrainingModelImpl : public torch::nn::Module {
public:
    explicit PreTrainingModelImpl(const BigBirdConfig& config);
    /// `positions`: (chosen) int64 indices into batch * length; undefined: all.
    PreTrainingOutput forward(const EncoderInput& input, const at::Tensor& positions = {},
                              const DropoutKey& key = {});
    EncoderOutput encode(const EncoderInput& input, bool all_hidden_states = false,
                         const DropoutKey& key = {});
    /// Applies only the heads to encode()'s hidden: (batch, length, hidden).
    PreTrainingOutput predict(const at::Tensor& hidden, const at::Tensor& positions = {});
    /// The tanh pooler's output: (batch, length, hidden) -> (batch, hidden).
    at::Tensor pool(const at::Tensor& hidden);
    /// The heads and the loss of the masked tokens, without holding all (chosen, vocab) logits at once.
    /// `labels`: (chosen) int64.
    /// `weights`: (chosen) float32, of each position in nats; undefined: 1.
    PreTrainingLoss loss(const at::Tensor& hidden, const at::Tensor& positions, const at::Tensor& labels,
                         const at::Tensor& weights = {});
    const BigBirdConfig& config() const;
    void set_attention_backend(attention::Backend backend);
    /// Stores only each layer's input and recomputes the layer in the backward pass. This needs less memory
    /// and about a third more time, and gives the same result.
    void set_recompute(bool recompute);
    /// Whether queries, keys and values come from one product while gradients are enabled
    /// (onednn_linear.hpp). Results are equal up to rounding, and parameters are the same. nullopt: packed on
    /// every device but CPUs.
    void set_packed_projections(std::optional<bool> packed);
    /// Only for Performers: selects the draw of random features for all later passes. config() and
    /// config.json record it.
    void set_redraw(std::int64_t redraw);

private:
    struct Parts;
    std::shared_ptr<Parts> parts_;
};
TORCH_MODULE(PreTrainingModel);

/// BigBirdForSequenceClassification's form and keys (`--head linear`: `out_proj` on the tanh pooler's output;
/// `--head bins`: `LayerNorm`, `out_proj`), or BigBirdForTokenClassification's with the head "tokens".
class SequenceClassifierImpl : public torch::nn::Module {
public:
    explicit SequenceClassifierImpl(const BigBirdConfig& config);
    at::Tensor forward(const EncoderInput& input, const DropoutKey& key = {});  // (batch, labels) logits
    EncoderOutput encode(const EncoderInput& input, bool all_hidden_states = false,
                         const DropoutKey& key = {});
    /// Applies only the head to encode()'s hidden: (batch, length, hidden) -> (batch, labels). The heads of
    /// bins and tokens use the features of each: (batch, count, hidden) -> (batch, count, labels).
    at::Tensor predict(const at::Tensor& hidden, const DropoutKey& key = {});
    /// The parameters that predict(encode()) depends on.
    std::vector<at::Tensor> trained_parameters() const;
    const BigBirdConfig& config() const;
    void set_attention_backend(attention::Backend backend);

private:
    struct Parts;
    std::shared_ptr<Parts> parts_;
};
TORCH_MODULE(SequenceClassifier);

/// Weights are N(0, initializer_range) or, with fan-in (except embeddings), N(0, 1 / sqrt(inputs)). Biases
/// are 0, LayerNorm 1/0, the rows of [PAD] and of a Longformer's padding position 0. A convolution of
/// embeddings begins near the identity, with small weights of the neighbors. A function only of the seed and
/// the parameter's name, on any device. `prefix` restricts it to parameters whose name starts so.
void initialise(torch::nn::Module& module, const BigBirdConfig& config, std::uint64_t seed,
                const std::string& prefix = {});

}  // namespace bigbird::model
