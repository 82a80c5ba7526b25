// SPDX-License-Identifier: Apache-2.0
// The smallest modules: parameters with Hugging Face's names and shapes. Parameters start as zeros; weights
// are loaded or initialized afterwards. (torch::nn's modules would first draw them from a global generator.)
#pragma once

#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/dropout.hpp"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace bigbird::model {

// Rotary positions (Su and others 2021): the product of a query and a key depends on their distance.

/// Cosines and sines of the angles by which a position rotates each pair of features, (positions, head_dim /
/// 2) float32. The angle is position * theta^(-2 i / head_dim) for pair i, scaled by RopeScaling (head_dim
/// above 2 with ntk). Undefined: no rotation.
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(std::int64_t positions, std::int64_t head_dim, const at::Device& device,
                         const RotaryForm& form = {});

/// A table of the usual form that is made on first use, and again for more positions. Thread-safe.
class KeptRotaryTable {
public:
    RotaryTable at_least(std::int64_t positions, std::int64_t head_dim, const at::Device& device);

private:
    std::mutex mutex_;
    RotaryTable table_;
};

/// Rotates pair i, the features i and i + head_dim / 2, of each position. x: (batch, heads, positions,
/// head_dim); the result has its type. Uses the table's first positions, or a table for these positions,
/// (batch or 1, heads or 1, positions, head_dim / 2).
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

/// GELU by tanh, differentiable; own kernels for float and bfloat16 on the CPU. Without gradients the result
/// overwrites a contiguous x, which nobody else may use.
at::Tensor gelu_tanh(const at::Tensor& x);

/// x W^T + b: (…, in) -> (…, out); W (out, in), b (out) or undefined. Uses oneDNN where that is faster
/// (onednn_linear.hpp). Without gradients, on a CPU, the result of a row of (rows, in), at most 64 rows, or
/// of a sample of (batch, length, in) does not depend on its index, to the last bit.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// Low-rank adaptation (Hu and others 2022): instead of a weight W, a change of it is trained, (alpha / rank)
/// B A. `dropout`: of what A reads.
struct LoraForm {
    std::int64_t rank = 0;  ///< 0: none
    double alpha = 0, dropout = 0;

    double scale() const { return alpha / static_cast<double>(rank); }
};

/// y = x W^T + b. weight (out, in), bias (out).
class LinearImpl : public torch::nn::Module {
public:
    LinearImpl(std::int64_t in, std::int64_t out, bool with_bias = true);
    /// Adds the parameters lora_A, (rank, in), and lora_B, (out, rank), which is 0. `site` distinguishes the
    /// dropout masks of layers.
    void adapt(const LoraForm& form, const at::Tensor& a, std::int64_t site);
    /// Adds what `other`, of the same shape, has, without its values.
    void adapt_like(const LinearImpl& other);
    bool is_adapted() const { return lora_a.defined(); }
    /// weight, with the change by lora_A and lora_B, if there is one.
    at::Tensor merged_weight() const;
    at::Tensor forward(const at::Tensor& x) const;  // (…, in) -> (…, out)
    /// activation(forward(x)), and forward(x) + other; in one pass where oneDNN can (onednn_linear.hpp).
    at::Tensor forward_and_activate(const at::Tensor& x, const std::string& activation) const;
    at::Tensor forward_and_add(const at::Tensor& x, const at::Tensor& other) const;

    at::Tensor weight, bias, lora_a, lora_b;

private:
    LoraForm lora_;
    std::int64_t site_ = 0;
};
TORCH_MODULE(Linear);

/// While an object exists, adapted layers on this thread drop what A reads by this key.
class LoraDropout {
public:
    explicit LoraDropout(const DropoutKey& key);
    ~LoraDropout();
    LoraDropout(const LoraDropout&) = delete;
    LoraDropout& operator=(const LoraDropout&) = delete;

    static const DropoutKey*& current();

private:
    const DropoutKey* before_;
};

/// weight and bias (size); without a bias, bias is undefined.
class LayerNormImpl : public torch::nn::Module {
public:
    LayerNormImpl(std::int64_t size, double norm_epsilon, bool with_bias = true);
    at::Tensor forward(const at::Tensor& x) const;  // (…, size), same shape

    at::Tensor weight, bias;
    double epsilon;
};
TORCH_MODULE(LayerNorm);

/// weight (count, size). The row `padding_row` (-1: none) gets no gradient from look-ups.
class EmbeddingImpl : public torch::nn::Module {
public:
    EmbeddingImpl(std::int64_t count, std::int64_t size, std::int64_t padding_row = -1);
    at::Tensor forward(const at::Tensor& ids) const;  // (…) int64 -> (…, size)

    at::Tensor weight;
    std::int64_t padding;
};
TORCH_MODULE(Embedding);

/// Adds an empty module, for one component of a dotted parameter name.
std::shared_ptr<torch::nn::Module> add_group(torch::nn::Module& parent, const std::string& name);

/// hidden_act by its Hugging Face name: gelu, gelu_new, gelu_pytorch_tanh, relu, silu (swish). Without
/// gradients the result may overwrite x, which nobody else may then use.
at::Tensor activation(const std::string& name, const at::Tensor& x);

}  // namespace bigbird::model
