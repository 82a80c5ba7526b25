// SPDX-License-Identifier: Apache-2.0
// Computes attention for any layout with any backend. Differentiable.
#pragma once

#include "bigbird/attention/layer_layout.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace bigbird::attention {

/// reference: dense scores, readable, the oracle. blocked: only the blocks that the layout names; memory
/// grows linearly with the length (full layouts go to LibTorch's fused attention). fused: own kernels for
/// float and bfloat16 on CPUs with AVX2, AVX-512 or AMX, CUDA kernels for bfloat16 and float16 on GPUs. Only
/// q, k, v, the result and one number per row are kept for the backward pass. fused_hopper: fused, on GPUs of
/// compute capability 9.0 by the kernels for those. automatic: on a GPU the fastest of these that serves
/// it (best_kernels, else blocked); on a CPU the fastest by measured rates for the shape, the type and the
/// processor (backends.hpp). Every run makes the same choice and the same bytes.
enum class Backend : std::uint8_t { automatic, reference, blocked, fused, fused_hopper };

/// "automatic", "reference", "blocked", "fused", "fused-hopper". Throws ConfigError listing the names.
Backend backend_from_name(const std::string& name);

/// softmax(q k^T / sqrt(head_dim) + ln multiplicity - slope * distance, over the real keys) v, (batch, heads,
/// length, head_dim).
/// Padded keys get no weight. As in transformers, padded queries give 0 in sparse layouts and are computed
/// like others in full ones. q, k, v: (batch, heads, length, head_dim), any strides, length = blocks *
/// block_size; key_mask: (batch, length) bool, true = real. probability_mask: (batch, heads, length, length)
/// factors on the probabilities (dropout), full layouts only; undefined for none.
at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& key_mask, const LayerLayout& layout,
                            Backend backend = Backend::automatic, const at::Tensor& probability_mask = {});

}  // namespace bigbird::attention
