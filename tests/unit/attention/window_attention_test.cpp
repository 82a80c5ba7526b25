// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/window_attention.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/backends.hpp"

#include <cmath>
#include <limits>

using namespace bigbird::attention;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

namespace {

PatternSpec window(int block, int tokens, int dilation) {
    PatternSpec spec;
    spec.kind = PatternKind::longformer;
    spec.block_size = block;
    spec.window_tokens = tokens;
    spec.dilation = dilation;
    return spec;
}

/// Queries, keys and values by the ordinary and by the global projections: (batch, heads, length, head_dim).
struct Projected {
    at::Tensor q, k, v, global_q, global_k, global_v;
};

/// (batch, heads, length, length) bool: what Longformer attends, token by token, by its definition.
at::Tensor attended_pairs(const std::vector<PatternSpec>& heads, const at::Tensor& global,
                          const at::Tensor& real) {
    const std::int64_t batch = real.size(0), length = real.size(1);
    at::Tensor pairs = at::zeros({batch, static_cast<std::int64_t>(heads.size()), length, length}, at::kBool);
    const auto is = [](const at::Tensor& mask, std::int64_t sample, std::int64_t token) {
        return mask[sample][token].item<bool>();
    };
    for (std::int64_t b = 0; b < batch; ++b) {
        for (std::size_t h = 0; h < heads.size(); ++h) {
            for (std::int64_t i = 0; i < length; ++i) {
                for (std::int64_t j = 0; j < length; ++j) {
                    const std::int64_t distance = std::abs(i - j);
                    const bool near = distance <= std::int64_t{heads[h].window_tokens} * heads[h].dilation &&
                                      distance % heads[h].dilation == 0;
                    pairs[b][static_cast<std::int64_t>(h)][i][j] =
                        is(real, b, i) && is(real, b, j) && (near || is(global, b, i) || is(global, b, j));
                }
            }
        }
    }
    return pairs;
}

/// The readable twin: every score of every pair of tokens.
at::Tensor dense(const Projected& x, const std::vector<PatternSpec>& heads, const at::Tensor& global,
                 const at::Tensor& real) {
    const at::Tensor pairs = attended_pairs(heads, global, real);
    const double scale = 1 / std::sqrt(static_cast<double>(x.q.size(3)));
    const auto weighted = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
        const at::Tensor scores = at::matmul(q, k.transpose(2, 3)) * scale;
        const at::Tensor left_out = pairs.logical_not();
        return at::matmul(at::softmax(scores.masked_fill(left_out, -1e300), -1).masked_fill(left_out, 0), v);
    };
    const at::Tensor by_global = global.logical_and(real).unsqueeze(1).unsqueeze(3);
    return at::where(by_global, weighted(x.global_q, x.global_k, x.global_v), weighted(x.q, x.k, x.v));
}

at::Tensor by_blocks(const Projected& x, WindowLayouts& layouts, const GlobalTokens& tokens,
                     const at::Tensor& real, int block, Backend backend) {
    const auto blocks = static_cast<int>(real.size(1) / block);
    const auto layout = layouts.get(blocks, tokens.most(), 0, at::kCPU);
    const at::Tensor local = window_attention(x.q, x.k, x.v, tokens, *layout, backend);
    if (tokens.most() == 0) return local;
    const at::Tensor flat = x.global_q.transpose(1, 2).flatten(2);  // (batch, length, heads * head_dim)
    const at::Tensor rows = global_rows(flat, tokens);
    const at::Tensor queries =
        rows.view({rows.size(0), rows.size(1), x.q.size(1), x.q.size(3)}).transpose(1, 2);
    return with_global_rows(local, queries, x.global_k, x.global_v, real, tokens);
}

Projected projected(std::int64_t batch, std::int64_t heads, std::int64_t length, at::ScalarType type) {
    const auto tensor = [&](std::uint64_t seed) {
        return random_tensor({batch, heads, length, 8}, seed, type).requires_grad_();
    };
    return {tensor(1), tensor(2), tensor(3), tensor(4), tensor(5), tensor(6)};
}

/// Three samples of 48: whole; the last 11 padded; the last 5 and two in the middle.
at::Tensor some_padding() {
    at::Tensor real = at::ones({3, 48}, at::kBool);
    real[1].narrow(0, 37, 11).fill_(false);
    real[2].narrow(0, 43, 5).fill_(false);
    real[2].narrow(0, 20, 2).fill_(false);
    return real;
}

at::Tensor mask_of(const std::vector<std::vector<std::int64_t>>& places) {
    at::Tensor mask = at::zeros({static_cast<std::int64_t>(places.size()), 48}, at::kBool);
    for (std::size_t b = 0; b < places.size(); ++b)
        for (const std::int64_t place : places[b])
            mask[static_cast<std::int64_t>(b)][place] = true;
    return mask;
}

std::vector<at::Tensor> gradients(const at::Tensor& result, const Projected& x) {
    const at::Tensor wave = at::cos(at::arange(result.numel(), at::kDouble)).view_as(result);
    (result * wave.to(result.scalar_type())).sum().backward();
    std::vector<at::Tensor> all;
    for (const at::Tensor& tensor : {x.q, x.k, x.v, x.global_q, x.global_k, x.global_v})
        all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
    return all;
}

void check_against_dense(const std::vector<PatternSpec>& heads, const at::Tensor& global, Backend backend,
                         at::ScalarType type, double tolerance) {
    const auto count = static_cast<std::int64_t>(heads.size());
    const at::Tensor real = some_padding();
    const Projected x = projected(3, count, 48, type), y = projected(3, count, 48, at::kDouble);
    WindowLayouts layouts({heads});
    const GlobalTokens tokens = find_global_tokens(global, real);
    const at::Tensor found = by_blocks(x, layouts, tokens, real, heads[0].block_size, backend),
                     wanted = dense(y, heads, global, real);
    DOCTEST_CHECK(difference(found, wanted) < tolerance);
    const std::vector<at::Tensor> slopes = gradients(found, x), exact = gradients(wanted, y);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        DOCTEST_CAPTURE(i);
        DOCTEST_CHECK(difference(slopes[i], exact[i]) < 4 * tolerance);
    }
}

}  // namespace

DOCTEST_TEST_CASE("window_attention: values and gradients are those of the dense definition") {
    const std::vector<at::Tensor> masks{mask_of({{}, {}, {}}), mask_of({{0}, {0}, {0}}),
                                        mask_of({{0, 7, 8, 30, 47}, {36, 40}, {}}),
                                        mask_of({{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {}, {20, 22}})};
    const std::vector<std::vector<PatternSpec>> windows{{window(8, 3, 1), window(8, 3, 1)},
                                                        {window(8, 5, 1), window(8, 2, 4), window(8, 11, 1)},
                                                        {window(16, 100, 1), window(16, 1, 1)},
                                                        {window(48, 47, 1), window(48, 60, 1)}};
    for (const auto& heads : windows) {
        for (const at::Tensor& global : masks) {
            for (const Backend backend : {Backend::reference, Backend::blocked, Backend::automatic})
                check_against_dense(heads, global, backend, at::kDouble, 1e-12);
            check_against_dense(heads, global, Backend::automatic, at::kFloat, 1e-5);
            if (can_fuse(at::empty({1}, at::kFloat)))
                check_against_dense(heads, global, Backend::fused, at::kFloat, 1e-5);
        }
    }
}

DOCTEST_TEST_CASE("window_attention: leading global tokens are those that a mask of them finds") {
    const at::Tensor real = some_padding();
    for (const std::int64_t count : {0, 1, 3, 45}) {
        at::Tensor global = at::zeros_like(real);
        global.narrow(1, 0, count).fill_(true);
        const GlobalTokens found = find_global_tokens(global, real),
                           leading = leading_global_tokens(count, real);
        DOCTEST_CHECK(at::equal(found.local, leading.local));
        DOCTEST_CHECK(found.most() == leading.most());
        const std::vector<PatternSpec> heads{window(8, 6, 1)};
        const Projected x = projected(3, 1, 48, at::kDouble);
        WindowLayouts layouts({heads});
        DOCTEST_CHECK(difference(by_blocks(x, layouts, leading, real, 8, Backend::blocked),
                                 by_blocks(x, layouts, found, real, 8, Backend::blocked)) < 1e-13);
    }
    DOCTEST_CHECK(leading_global_tokens(100, real).most() == 48);
}

DOCTEST_TEST_CASE("window_attention: other samples of a batch, and where its padding ends, change nothing") {
    const at::Tensor real = some_padding(), global = mask_of({{0, 9, 30}, {5}, {}});
    const std::vector<PatternSpec> heads{window(8, 4, 1), window(8, 3, 2)};
    const Projected x = projected(3, 2, 48, at::kDouble);
    WindowLayouts layouts({heads});
    const at::Tensor together =
        by_blocks(x, layouts, find_global_tokens(global, real), real, 8, Backend::blocked);
    for (std::int64_t b = 0; b < 3; ++b) {
        const auto one = [&](const at::Tensor& y) { return y.narrow(0, b, 1); };
        const Projected alone{one(x.q),        one(x.k),        one(x.v),
                              one(x.global_q), one(x.global_k), one(x.global_v)};
        const GlobalTokens tokens = find_global_tokens(one(global), one(real));
        DOCTEST_CHECK(difference(by_blocks(alone, layouts, tokens, one(real), 8, Backend::blocked),
                                 one(together)) < 1e-13);
    }
    DOCTEST_CHECK(together[1].narrow(1, 37, 11).abs().max().item<double>() == 0);
}

DOCTEST_TEST_CASE(
    "window_attention: layers of equal windows share a layout, which grows with the length alone") {
    WindowLayouts layouts({{window(8, 4, 1)}, {window(8, 6, 1)}, {window(8, 4, 1)}});
    const auto first = layouts.get(10, 1, 0, at::kCPU);
    DOCTEST_CHECK(first == layouts.get(10, 8, 2, at::kCPU));
    DOCTEST_CHECK(first != layouts.get(10, 1, 1, at::kCPU));
    DOCTEST_CHECK(first != layouts.get(10, 9, 0, at::kCPU));
    DOCTEST_CHECK(first->blocks == 11);
    DOCTEST_CHECK(layouts.get(40, 1, 0, at::kCPU)->columns.numel() == first->columns.numel() / 11 * 41);
}
