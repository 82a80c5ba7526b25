// SPDX-License-Identifier: Apache-2.0
// The steps between the encoder's matrix products by CUDA kernels: each reads and writes its tensors once, in
// 16 bits, with parameters and their gradients in their own type. The slow twins are at::layer_norm,
// dropout() and at::gelu. Differentiable; on the caller's stream, without waiting.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <optional>

namespace bigbird::model {

/// Returns the type in which the kernels replace LibTorch's operations, or nullopt if they cannot.
/// Requirements: a fused or automatic `backend`, a device with the kernels, and layer norms of at most 1,024
/// columns (a multiple of 8). Also bfloat16 or float16, by autocast or as the parameter's type.
std::optional<at::ScalarType> fused_type(const at::Tensor& parameter, attention::Backend backend,
                                         std::int64_t columns);

/// Dropout inside a fused step; probability 0: none.
struct FusedDropout {
    double probability = 0;
    DropoutKey key;
    DropoutSite site{};
};

/// LayerNorm(residual + dropout(x)), (batch, length, hidden), in `type`. residual may be undefined.
at::Tensor fused_norm(const at::Tensor& x, const at::Tensor& residual, const LayerNormImpl& norm,
                      const FusedDropout& dropout, at::ScalarType type);

/// The tables whose rows are summed to embeddings; ids and types: (batch, length) int64.
struct EmbeddingTables {
    at::Tensor ids, types, words, positions, token_types;
    double word_scale = 1;
    std::int64_t padding = -1;  ///< the row of `words` that gets no gradient
};
/// LayerNorm(dropout(words[ids] * word_scale + token_types[types] + positions)), (batch, length, hidden), in
/// `type`. Positions beyond the table count as 0.
at::Tensor fused_embedding_norm(const EmbeddingTables& tables, const LayerNormImpl& norm,
                                const FusedDropout& dropout, at::ScalarType type);

/// gelu(x + bias) by the tanh formula, in `type`; x: (…, columns), columns a multiple of 8.
at::Tensor fused_bias_gelu(const at::Tensor& x, const at::Tensor& bias, at::ScalarType type);

}  // namespace bigbird::model
