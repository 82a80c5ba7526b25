// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/attention.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace bigbird::attention {

namespace {

/// ALiBi: -slope * |query - key|, (heads, length, length).
at::Tensor distance_bias(const std::vector<float>& slopes, std::int64_t length,
                         const at::TensorOptions& options) {
    const at::Tensor index = at::arange(length, options.requires_grad(false)),
                     by_head = at::tensor(at::ArrayRef<float>(slopes)).to(index.options());
    return (index.unsqueeze(0) - index.unsqueeze(1)).abs() * -by_head.view({-1, 1, 1});
}

}  // namespace

at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& key_mask, const at::Tensor& probability_mask,
                          const std::vector<float>& slopes) {
    at::Tensor bias =
        key_padding_bias(key_mask, q.scalar_type()).unsqueeze(1).unsqueeze(1);  // (batch, 1, 1, length)
    if (!slopes.empty()) bias = bias + distance_bias(slopes, q.size(2), q.options());
    if (!probability_mask.defined()) return at::scaled_dot_product_attention(q, k, v, bias);
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    const at::Tensor probabilities = at::softmax(at::matmul(q * scale, k.transpose(2, 3)) + bias, -1);
    return at::matmul(probabilities * probability_mask, v);
}

namespace {

/// (heads, length, length): ln multiplicity of the key's block for the query's block, masked_bias where it is
/// not attended.
at::Tensor dense_bias(const LayerLayout& layout, const at::TensorOptions& options) {
    const std::int64_t block = layout.block_size, length = layout.blocks * block;
    at::Tensor bias = at::full({layout.heads, length, length}, masked_bias, at::kDouble);
    for (int head = 0; head < layout.heads; ++head) {
        const BlockLayout& of_head = (*layout.layouts)[static_cast<std::size_t>(head)];
        for (int row = 0; row < layout.blocks; ++row) {
            for (const std::size_t i : of_head.entries(row)) {
                const at::Tensor entry =
                    bias[head].narrow(0, row * block, block).narrow(1, of_head.columns[i] * block, block);
                entry.fill_(std::log(of_head.multiplicity[i]));
                if (!of_head.is_masked(i)) continue;
                const ElementMask& mask = of_head.masks[static_cast<std::size_t>(of_head.mask[i])];
                entry.masked_fill_(
                    at::tensor(at::ArrayRef<std::uint8_t>(mask), at::kByte).view({block, block}) == 0,
                    masked_bias);
            }
        }
    }
    if (!layout.slopes.empty()) bias += distance_bias(layout.slopes, length, bias.options());
    return bias.to(options);
}

}  // namespace

at::Tensor reference_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& key_mask, const LayerLayout& layout,
                               const at::Tensor& probability_mask) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    at::Tensor scores = at::matmul(q, k.transpose(2, 3)) * scale;  // (batch, heads, length, length)
    scores = scores + dense_bias(layout, q.options()) +
             key_padding_bias(key_mask, q.scalar_type()).unsqueeze(1).unsqueeze(1);
    at::Tensor probabilities = at::softmax(scores, -1);
    if (probability_mask.defined()) probabilities = probabilities * probability_mask;
    const at::Tensor context = at::matmul(probabilities, v);  // (batch, heads, length, head_dim)
    return layout.full ? context : context * key_mask.to(q.scalar_type()).unsqueeze(1).unsqueeze(3);
}

Backend backend_from_name(const std::string& name) {
    constexpr Choices<Backend, 5> backends{{{Backend::automatic, "automatic"},
                                            {Backend::reference, "reference"},
                                            {Backend::blocked, "blocked"},
                                            {Backend::fused, "fused"},
                                            {Backend::fused_hopper, "fused-hopper"}}};
    for (const auto& [backend, word] : backends)
        if (word == name) return backend;
    throw ConfigError("no attention backend is named '" + name + "': choose " + list_of_words(backends));
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
    BIGBIRD_EXPECTS(layout.full || layout.slopes.empty(), "sparse attention has no slopes");
    if (backend == Backend::reference)
        return reference_attention(q, k, v, key_mask, layout, probability_mask);
    if (backend == Backend::fused_hopper && !cuda::kernels_serve(q.is_cuda())) {
        throw ConfigError(
            "the attention backend fused-hopper is for GPUs of compute capability 9.0: choose fused");
    }
    if (probability_mask.defined()) return full_attention(q, k, v, key_mask, probability_mask, layout.slopes);
    const bool has_whole_blocks = !layout.full && !layout.mask_index.defined();
    if (backend == Backend::fused || backend == Backend::fused_hopper) {
        if (!cuda::kernels_serve(q.is_cuda())) return fused_attention(q, k, v, key_mask, layout);
        if (has_whole_blocks) {
            return cuda_attention(
                q, k, v, key_mask, layout,
                backend == Backend::fused ? cuda::KernelSet::general : cuda::KernelSet::hopper);
        }
    }
    if (backend == Backend::automatic && has_whole_blocks) {
        if (const auto kernels = best_kernels(q.device(), q.scalar_type(), q.size(3)))
            return cuda_attention(q, k, v, key_mask, layout, *kernels);
    }
    if (backend == Backend::automatic && can_fuse(q)) {
        // LibTorch would need the slopes' bias of all pairs of tokens.
        if (!layout.slopes.empty()) return fused_attention(q, k, v, key_mask, layout);
        const FusedKernel* const kernel =
            cheapest_candidate(layout, q.size(3), q.scalar_type() == at::kBFloat16).kernel;
        if (kernel != nullptr) return fused_attention(q, k, v, key_mask, layout, kernel);
    }
    return layout.full ? full_attention(q, k, v, key_mask, {}, layout.slopes)
                       : blocked_attention(q, k, v, key_mask, layout);
}

at::Tensor key_padding_bias(const at::Tensor& key_mask, at::ScalarType type) {
    return at::where(key_mask, at::scalar_tensor(0.0, key_mask.options().dtype(type)),
                     at::scalar_tensor(padding_bias, key_mask.options().dtype(type)));
}

at::Tensor empty_result(const at::Tensor& like) {
    return at::empty({like.size(0), like.size(2), like.size(1), like.size(3)},
                     like.options().requires_grad(false))
        .transpose(1, 2);
}

}  // namespace bigbird::attention
