// SPDX-License-Identifier: Apache-2.0
// What the tests of the CUDA kernels compute.
#pragma once

#include "support/tensors.hpp"
#include "unit/attention/attention_cases.hpp"

#include "bigbird/attention/backends.hpp"

#include <string>

namespace bigbird::testing {

struct CudaCase {
    const char* pattern;  ///< of attention::named_pattern()
    attention::RandomSource source = attention::RandomSource::uniform;
    int block_size = 64, blocks = 12, heads = 2, samples = 1, head_dim = 64;
    int padded = 0;   ///< tokens at the end of the last sample
    int longest = 0;  ///< entries a unit, 0: the default
    bool full = false;
};

/// Inputs that `type` holds exactly, as double.
struct AttentionInputs {
    at::Tensor q, k, v, d_out;  // (samples, heads, length, head_dim)
    at::Tensor key_mask;        // (samples, length) bool
};

inline attention::LayerLayout layout_of(const CudaCase& c) {
    attention::PatternSpec spec = attention::named_pattern(c.pattern);
    spec.block_size = c.block_size;
    spec.random_source = c.source;
    spec.full = c.full;
    return stacked_layout(spec, c.blocks, c.heads);
}

inline AttentionInputs inputs_of(const CudaCase& c, at::ScalarType type, std::uint64_t seed = 1) {
    const std::int64_t length = std::int64_t{c.blocks} * c.block_size;
    const auto draw = [&](std::uint64_t number) {
        return (random_tensor({c.samples, c.heads, length, c.head_dim}, 10 * seed + number) * 1.5)
            .to(type)
            .to(at::kDouble);
    };
    AttentionInputs inputs{draw(1), draw(2), draw(3), draw(4), at::ones({c.samples, length}, at::kBool)};
    inputs.key_mask[c.samples - 1].slice(0, length - c.padded).fill_(false);
    return inputs;
}

/// The oracle, reference_attention(), computed in `type`.
inline AttentionResults run_reference(const attention::LayerLayout& layout, const AttentionInputs& inputs,
                                      at::ScalarType type) {
    const auto leaf = [&](const at::Tensor& x) { return x.to(type, false, true).requires_grad_(); };
    const at::Tensor q = leaf(inputs.q), k = leaf(inputs.k), v = leaf(inputs.v);
    const at::Tensor out = attention::reference_attention(q, k, v, inputs.key_mask, layout, {});
    out.backward(inputs.d_out.to(type));
    return {out.detach().to(at::kDouble), q.grad().to(at::kDouble), k.grad().to(at::kDouble),
            v.grad().to(at::kDouble)};
}

/// The rule for low precision: at most `factor` times the error of the same maths by LibTorch in that type.
inline void check_error(const at::Tensor& found, const at::Tensor& exact, const at::Tensor& by_torch,
                        double factor) {
    const double unavoidable = 1e-4 * exact.abs().max().item<double>();
    DOCTEST_CHECK(difference(found.to(at::kDouble), exact) <=
                  factor * difference(by_torch, exact) + unavoidable);
}

inline void check_errors(const AttentionResults& found, const AttentionResults& exact,
                         const AttentionResults& by_torch) {
    check_error(found.out, exact.out, by_torch.out, 2);
    check_error(found.dq, exact.dq, by_torch.dq, 3);
    check_error(found.dk, exact.dk, by_torch.dk, 3);
    check_error(found.dv, exact.dv, by_torch.dv, 3);
}

}  // namespace bigbird::testing
