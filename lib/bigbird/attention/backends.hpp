// SPDX-License-Identifier: Apache-2.0
// The backends that sparse_attention() calls after it has checked the shapes. They have the same contract.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/attention/cuda/kernels.hpp"
#include "bigbird/attention/pattern/pattern.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::attention {

class FusedKernel;

at::Tensor reference_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& key_mask, const LayerLayout& layout,
                               const at::Tensor& probability_mask);

/// Target size of one CPU chunk of `blocked`, in gathered plus scored elements.
inline constexpr double blocked_elements_at_once = 1 << 19;

/// Only for sparse layouts.
at::Tensor blocked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const LayerLayout& layout);

/// Float and bfloat16 on the CPU. `kernel`: one of fused_kernels() for the type; none: the fastest. Throws
/// ConfigError where the processor or the type has none.
at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& key_mask, const LayerLayout& layout,
                           const FusedKernel* kernel = nullptr);
/// Whether fused_attention() can compute tensors like this one.
bool can_fuse(const at::Tensor& q);

/// bfloat16 and float16 on a GPU, layouts without element masks. Throws ConfigError for anything else, and
/// DeviceError where the kernels' library is missing or the GPU cannot run them. The first call with a layout
/// and a number of samples on a device copies a schedule there, so it must not be the one that a CUDA graph
/// captures.
/// `gradients`: the kernels of the backward pass if they are others, for tests of a single kernel.
at::Tensor cuda_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& key_mask, const LayerLayout& layout, cuda::KernelSet kernels,
                          std::optional<cuda::KernelSet> gradients = {});
/// The fastest kernels of ours for heads of this size and numbers of this type on a GPU: what `automatic`
/// takes. None on a CPU, for float32, and where the library is missing, which is said once.
std::optional<cuda::KernelSet> best_kernels(const at::Device& device, at::ScalarType type,
                                            std::int64_t head_dim);
/// Calls launch(stream) for the current stream of the device, which is then the current one. Throws
/// DeviceError with `what` where the result is not 0.
void run_kernels(const at::Device& device, const std::string& what, const std::function<int(void*)>& launch);

/// Whether the CUDA kernels know a type, and its name there.
inline bool is_half(at::ScalarType type) {
    return type == at::kBFloat16 || type == at::kHalf;
}
inline cuda::Element element_of(at::ScalarType type) {
    return type == at::kHalf ? cuda::Element::fp16 : cuda::Element::bf16;
}

/// Only for full layouts: LibTorch's scaled_dot_product_attention. `slopes`: LayerLayout's.
at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& key_mask, const at::Tensor& probability_mask,
                          const std::vector<float>& slopes = {});

/// (batch, length): 0 where real, padding_bias where padded.
at::Tensor key_padding_bias(const at::Tensor& key_mask, at::ScalarType type);

/// Returns an empty result like `like` with the memory order (batch, length, heads, head_dim), which the
/// projection after it reads without a copy.
at::Tensor empty_result(const at::Tensor& like);

// Measured costs of attention on a CPU. Every candidate was timed on many shapes
// (tests/bench/attention_bench); scripts/checks/fit_attention_costs.py fits two rates per candidate and type,
// kept in backend_cost.cpp. The choice depends only on shape, type and processor, so the same inputs give the
// same bytes on every run. Timing each run would not guarantee that.

/// An implementation of attention: a fused kernel, or ATen's if `kernel` is null (`blocked`, or for full
/// layouts LibTorch's attention).
struct Candidate {
    const FusedKernel* kernel = nullptr;
    /// "avx2", "avx512", "avx512_bf16", "amx"; "blocked" and, for full layouts, "dense".
    std::string name(bool full) const;
};

/// Average work of one head of one sample, including a fused kernel's padding to full tiles.
struct Work {
    double products = 0;  ///< multiplications for the scores
    double steps = 0;     ///< units with a fixed cost: pairs of blocks, or slices of query blocks
};
Work work_of(const Candidate& candidate, const LayerLayout& layout, std::int64_t head_dim);

/// Nanoseconds for one head of one sample on one thread, by the rates: a forward pass plus a forward pass
/// with its backward pass.
double cost_of(const Candidate& candidate, const LayerLayout& layout, std::int64_t head_dim, bool bf16);

/// The candidates that this processor can run for a type; ATen's is always the last.
std::vector<Candidate> candidates(bool bf16);

/// The candidate that costs least, for passes with and without gradients alike.
Candidate cheapest_candidate(const LayerLayout& layout, std::int64_t head_dim, bool bf16);

}  // namespace bigbird::attention
