// SPDX-License-Identifier: Apache-2.0
// Attention over small layouts, and what is compared of it.
#pragma once

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/layer_layout.hpp"
#include "bigbird/attention/pattern/pattern.hpp"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <utility>
#include <vector>

namespace bigbird::testing {

/// The layouts of a pattern for all heads of layer 1.
inline attention::LayerLayout stacked_layout(const attention::PatternSpec& spec, int blocks, int heads) {
    std::vector<attention::BlockLayout> layouts;
    for (int head = 0; head < heads; ++head)
        layouts.push_back(attention::make_layout(spec, blocks, 1, head));
    return attention::stack_layouts(std::move(layouts), spec.block_size, at::kCPU);
}

struct AttentionCase {
    int blocks, block_size, heads, batch, head_dim, random_blocks;
    attention::RandomSource source;
    std::int64_t padded;  ///< tokens at the end of the last sample that are padding
    bool full = false;
    attention::GlobalPlacement globals = attention::GlobalPlacement::ends;
};

inline attention::LayerLayout layout_of(const AttentionCase& c) {
    attention::PatternSpec spec;
    spec.block_size = c.block_size;
    spec.random_blocks = c.random_blocks;
    spec.random_source = c.source;
    spec.globals = c.globals;
    spec.full = c.full;
    return stacked_layout(spec, c.blocks, c.heads);
}

struct AttentionResults {
    at::Tensor out, dq, dk, dv;  // (samples, heads, length, head_dim)
    std::vector<at::Tensor> all() const { return {out, dq, dk, dv}; }
};

inline bool identical(const AttentionResults& a, const AttentionResults& b) {
    return identical(a.out, b.out) && identical(a.dq, b.dq) && identical(a.dk, b.dk) && identical(a.dv, b.dv);
}

/// Values that `type` holds exactly, and attend(q, k, v, mask) of them in `computed`, forward and backward.
template <typename Attend>
AttentionResults run(const AttentionCase& c, at::ScalarType type, at::ScalarType computed,
                     const Attend& attend) {
    const std::int64_t length = std::int64_t{c.blocks} * c.block_size;
    const auto values = [&](std::uint64_t seed) {
        return (random_tensor({c.batch, length, c.heads, c.head_dim}, seed) * 1.5).to(type).to(computed);
    };
    const at::Tensor q = values(1).requires_grad_(), k = values(2).requires_grad_(),
                     v = values(3).requires_grad_();
    at::Tensor mask = at::ones({c.batch, length}, at::kBool);
    mask[c.batch - 1].slice(0, length - c.padded).fill_(false);
    const at::Tensor out = attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask);
    (out * values(4).transpose(1, 2)).sum().backward();
    return {out.detach(), q.grad(), k.grad(), v.grad()};
}

/// Each result within `tolerance` of what is wanted, relative to its largest number.
inline void check_near(const AttentionResults& found, const AttentionResults& wanted, double tolerance) {
    const std::vector<at::Tensor> a = found.all(), b = wanted.all();
    for (std::size_t i = 0; i < a.size(); ++i)
        DOCTEST_CHECK(difference(a[i], b[i]) < tolerance * (1 + b[i].abs().max().item<double>()));
}

/// Every `stride`-th gradient of loss() in the inputs, leaves of doubles, against a central difference.
template <typename Loss>
void check_gradients(const std::vector<at::Tensor>& inputs, std::int64_t stride, double tolerance,
                     const Loss& loss) {
    for (const at::Tensor& x : inputs)
        at::Tensor(x).set_requires_grad(true);
    torch::autograd::backward({loss()}, {});
    const at::NoGradGuard no_gradients;
    constexpr double step = 1e-6;
    for (const at::Tensor& x : inputs) {
        const at::Tensor values = x.detach().view(-1), found = x.grad().view(-1);
        for (std::int64_t i = 0; i < values.numel(); i += stride) {
            const auto moved = [&](double by) {
                values[i].add_(by);
                const double moved_loss = loss().template item<double>();
                values[i].add_(-by);
                return moved_loss;
            };
            const double expected = (moved(step) - moved(-step)) / (2 * step);
            DOCTEST_CHECK(std::abs(found[i].template item<double>() - expected) < tolerance);
        }
    }
}

}  // namespace bigbird::testing
