// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/layer_layout.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <cmath>

using namespace bigbird::attention;

DOCTEST_TEST_CASE("layer_layout: dense rows, and the columns of the others, are the layout") {
    PatternSpec spec;
    const int blocks = 17, heads = 3;
    std::vector<BlockLayout> layouts;
    for (int head = 0; head < heads; ++head) {
        layouts.push_back(make_layout(spec, blocks, 2, head));
    }
    const LayerLayout layer = stack_layouts(layouts, 64, at::kCPU);
    DOCTEST_REQUIRE(!layer.full);
    DOCTEST_CHECK(at::equal(layer.dense_rows, at::tensor({0, 16}, at::kLong)));
    DOCTEST_CHECK(at::equal(layer.sparse_rows, at::arange(1, 16, at::kLong)));
    for (int head = 0; head < heads; ++head) {
        for (int row = 1; row < 16; ++row) {
            const BlockLayout& of_head = layouts[static_cast<std::size_t>(head)];
            const auto begin = of_head.columns.begin() + of_head.row_offsets[static_cast<std::size_t>(row)];
            const auto end = of_head.columns.begin() + of_head.row_offsets[static_cast<std::size_t>(row) + 1];
            std::vector<std::int32_t> seen;
            for (std::int64_t i = 0; i < layer.columns.size(2); ++i) {
                if (layer.bias[head][row - 1][i].item<double>() > masked_bias / 2) {
                    seen.push_back(layer.columns[head][row - 1][i].item<std::int32_t>());
                }
            }
            DOCTEST_CHECK(seen == std::vector<std::int32_t>(begin, end));
        }
    }
}

DOCTEST_TEST_CASE("layer_layout: multiplicities become logarithms") {
    PatternSpec spec;
    spec.random_source = RandomSource::hf;
    const LayerLayout layer = stack_layouts({make_layout(spec, 16, 0, 0)}, 64, at::kCPU);
    DOCTEST_CHECK(layer.bias[0][3][0].item<double>() == doctest::Approx(std::log(4.0)));
    DOCTEST_CHECK(layer.bias[0][3][1].item<double>() == 0);
    DOCTEST_CHECK(layer.columns.size(2) == 5);
}

DOCTEST_TEST_CASE("layer_layout: the cache makes each layout once") {
    LayoutCache cache(PatternSpec{}, 2);
    const auto first = cache.get(16, 0, at::kCPU);
    DOCTEST_CHECK(first == cache.get(16, 0, at::kCPU));
    DOCTEST_CHECK(first != cache.get(16, 1, at::kCPU));
    DOCTEST_CHECK(cache.get(11, 0, at::kCPU)->full);
}
