// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/attention.hpp"

#include "bigbird/attention/backend_cost.hpp"
#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

namespace bigbird::attention {

Backend backend_from_name(const std::string& name) {
    if (name == "automatic") return Backend::automatic;
    if (name == "reference") return Backend::reference;
    if (name == "blocked") return Backend::blocked;
    if (name == "fused") return Backend::fused;
    if (name == "fused-hopper") return Backend::fused_hopper;
    throw ConfigError("no attention backend is named '" + name +
                      "': choose automatic, reference, blocked, fused or fused-hopper");
}

at::Tensor sparse_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& key_mask, const LayerLayout& layout, Backend backend,
                            const at::Tensor& probability_mask) {
    BIGBIRD_EXPECTS(q.dim() == 4 && q.size(1) == layout.heads &&
                        q.size(2) == std::int64_t{layout.blocks} * layout.block_size,
                    "q does not fit the layout");
    BIGBIRD_EXPECTS(k.sizes() == q.sizes() && v.sizes() == q.sizes(), "q, k and v differ in shape");
    BIGBIRD_EXPECTS(key_mask.dim() == 2 && key_mask.size(0) == q.size(0) && key_mask.size(1) == q.size(2) &&
                        key_mask.scalar_type() == at::kBool,
                    "key_mask must be (batch, length) bool");
    BIGBIRD_EXPECTS(layout.full || !probability_mask.defined(),
                    "sparse attention has no dropout on its probabilities");
    if (backend == Backend::reference) {
        return reference_attention(q, k, v, key_mask, layout, probability_mask);
    }
    if (backend == Backend::fused_hopper && !cuda::kernels_serve(q.is_cuda())) {
        throw ConfigError(
            "the attention backend fused-hopper is for GPUs of compute capability 9.0: choose fused");
    }
    if (!probability_mask.defined() && (backend == Backend::fused || backend == Backend::fused_hopper)) {
        if (!cuda::kernels_serve(q.is_cuda())) {
            return fused_attention(q, k, v, key_mask, layout);
        }
        if (!layout.full && !layout.mask_index.defined()) {
            return cuda_attention(
                q, k, v, key_mask, layout,
                backend == Backend::fused ? cuda::KernelSet::general : cuda::KernelSet::hopper);
        }
    }
    if (!probability_mask.defined() && backend == Backend::automatic && can_fuse(q)) {
        const FusedKernel* const kernel =
            cheapest_candidate(layout, q.size(3), q.scalar_type() == at::kBFloat16).kernel;
        if (kernel != nullptr) {
            return fused_attention(q, k, v, key_mask, layout, kernel);
        }
    }
    return layout.full ? full_attention(q, k, v, key_mask, probability_mask)
                       : blocked_attention(q, k, v, key_mask, layout);
}

at::Tensor key_padding_bias(const at::Tensor& key_mask, at::ScalarType type) {
    return at::where(key_mask, at::scalar_tensor(0.0, key_mask.options().dtype(type)),
                     at::scalar_tensor(padding_bias, key_mask.options().dtype(type)));
}

}  // namespace bigbird::attention
