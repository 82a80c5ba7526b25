// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/attention.hpp"

#include <array>

using namespace bigbird::attention;
using bigbird::testing::difference;
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
    std::vector<BlockLayout> heads;
    for (int head = 0; head < c.heads; ++head) {
        heads.push_back(make_layout(spec, c.blocks, 1, head));
    }
    return stack_layouts(std::move(heads), c.block_size, at::kCPU);
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
