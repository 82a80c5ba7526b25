// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/cuda/device/stacked_layout.hpp"

#include "bigbird/attention/attention.hpp"

#include <ATen/Parallel.h>

#include <array>

using namespace bigbird::attention;
using bigbird::testing::difference;
using bigbird::testing::identical;
using bigbird::testing::random_tensor;

namespace {

struct Case {
    int blocks, block_size, heads, batch, head_dim, random_blocks;
    RandomSource source;
    GlobalPlacement globals;
    std::int64_t padded;  ///< tokens at the end of the last sample that are padding
};

struct Results {
    at::Tensor out, dq, dk, dv;
};

LayerLayout layout_of(const Case& c) {
    PatternSpec spec;
    spec.block_size = c.block_size;
    spec.random_blocks = c.random_blocks;
    spec.random_source = c.source;
    spec.globals = c.globals;
    return bigbird::testing::stacked_layout(spec, c.blocks, c.heads);
}

Results run(const Case& c, const LayerLayout& layout, Backend backend, at::ScalarType type = at::kDouble) {
    const std::int64_t length = std::int64_t{c.blocks} * c.block_size;
    const std::vector<std::int64_t> shape{c.batch, length, c.heads, c.head_dim};
    const auto leaf = [&](std::uint64_t seed) { return random_tensor(shape, seed, type).requires_grad_(); };
    const at::Tensor q = leaf(1), k = leaf(2), v = leaf(3),
                     weights = random_tensor(shape, 4, type).transpose(1, 2);
    at::Tensor mask = at::ones({c.batch, length}, at::kBool);
    mask[c.batch - 1].slice(0, length - c.padded).fill_(false);
    const at::Tensor out =
        sparse_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask, layout, backend);
    (out * weights).sum().backward();
    return {out.detach(), q.grad(), k.grad(), v.grad()};
}

const std::array<Case, 7> cases{{{12, 4, 2, 2, 8, 3, RandomSource::uniform, GlobalPlacement::ends, 3},
                                 {13, 16, 3, 1, 16, 3, RandomSource::uniform, GlobalPlacement::ends, 0},
                                 {16, 8, 2, 2, 4, 3, RandomSource::hf, GlobalPlacement::ends, 9},
                                 {20, 4, 2, 3, 8, 2, RandomSource::uniform, GlobalPlacement::first, 17},
                                 {8, 4, 1, 2, 4, 0, RandomSource::uniform, GlobalPlacement::ends, 5},
                                 {14, 64, 2, 1, 64, 3, RandomSource::uniform, GlobalPlacement::ends, 70},
                                 {7, 4, 2, 2, 8, 0, RandomSource::hf, GlobalPlacement::ends, 6}}};

}  // namespace

DOCTEST_TEST_CASE("blocked_attention: equals the reference, forward and backward, in fp64") {
    for (const Case& c : cases) {
        DOCTEST_CAPTURE(c.blocks);
        const LayerLayout layout = layout_of(c);
        DOCTEST_REQUIRE(!layout.full);
        const Results blocked = run(c, layout, Backend::blocked),
                      reference = run(c, layout, Backend::reference);
        DOCTEST_CHECK(difference(blocked.out, reference.out) < 1e-12);
        DOCTEST_CHECK(difference(blocked.dq, reference.dq) < 1e-12);
        DOCTEST_CHECK(difference(blocked.dk, reference.dk) < 1e-12);
        DOCTEST_CHECK(difference(blocked.dv, reference.dv) < 1e-12);
    }
}

DOCTEST_TEST_CASE("blocked_attention: gradients are the derivatives, by finite differences in fp64") {
    const Case c{8, 2, 2, 2, 3, 0, RandomSource::uniform, GlobalPlacement::ends, 3};
    const LayerLayout layout = layout_of(c);
    at::Tensor mask = at::ones({2, 16}, at::kBool);
    mask[1].slice(0, 13).fill_(false);
    std::vector<at::Tensor> inputs;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        inputs.push_back(random_tensor({2, 2, 16, 3}, seed).requires_grad_());
    }
    const at::Tensor weights = random_tensor({2, 2, 16, 3}, 4);
    const auto loss = [&](const std::vector<at::Tensor>& x) {
        return (sparse_attention(x[0], x[1], x[2], mask, layout, Backend::blocked) * weights).sum();
    };
    loss(inputs).backward();
    const double step = 1e-6;
    for (std::size_t which = 0; which < inputs.size(); ++which) {
        for (std::int64_t element = 0; element < inputs[which].numel(); element += 7) {
            const auto moved = [&](double by) {
                std::vector<at::Tensor> x;
                for (const at::Tensor& input : inputs) {
                    x.push_back(input.detach().clone());
                }
                x[which].view(-1)[element] += by;
                return loss(x).item<double>();
            };
            const double numeric = (moved(step) - moved(-step)) / (2 * step);
            const double found = inputs[which].grad().view(-1)[element].item<double>();
            DOCTEST_CHECK(found == doctest::Approx(numeric).epsilon(1e-6).scale(1));
        }
    }
}

DOCTEST_TEST_CASE("blocked_attention: the same bytes for any number of threads, fp32 near the reference") {
    const Case c = cases[5];
    const LayerLayout layout = layout_of(c);
    const int threads = at::get_num_threads();
    std::vector<Results> results;
    for (const int count : {1, 2, 3}) {
        at::set_num_threads(count);
        results.push_back(run(c, layout, Backend::blocked, at::kFloat));
    }
    at::set_num_threads(threads);
    const Results& one = results.front();
    for (const Results& other : results) {
        DOCTEST_CHECK(identical(one.out, other.out));
        DOCTEST_CHECK(identical(one.dq, other.dq));
        DOCTEST_CHECK(identical(one.dk, other.dk));
        DOCTEST_CHECK(identical(one.dv, other.dv));
    }
    const Results reference = run(c, layout, Backend::reference);
    DOCTEST_CHECK(difference(one.out, reference.out) < 1e-5);
    DOCTEST_CHECK(difference(one.dq, reference.dq) < 1e-4);
    DOCTEST_CHECK(difference(one.dk, reference.dk) < 1e-4);
    DOCTEST_CHECK(difference(one.dv, reference.dv) < 1e-4);
}

DOCTEST_TEST_CASE("blocked_attention: without gradients nothing is kept") {
    const Case c = cases[0];
    const LayerLayout layout = layout_of(c);
    const at::NoGradGuard no_gradient;
    const at::Tensor q = random_tensor({2, 2, 48, 8}, 1).requires_grad_();
    DOCTEST_CHECK(
        !sparse_attention(q, q, q, at::ones({2, 48}, at::kBool), layout, Backend::blocked).requires_grad());
}
