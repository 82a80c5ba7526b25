// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/token_pattern.hpp"

#include "support/testing.hpp"

#include <set>

using namespace bigbird::attention;

namespace {

PatternSpec longformer(int block, int window, int dilation, int globals) {
    PatternSpec spec;
    spec.kind = PatternKind::longformer;
    spec.block_size = block;
    spec.window_tokens = window;
    spec.dilation = dilation;
    spec.global_tokens = globals;
    return spec;
}

/// All pairs of tokens that a layout attends.
std::set<std::pair<int, int>> pairs_of(const BlockLayout& layout, int block) {
    std::set<std::pair<int, int>> pairs;
    for (int row = 0; row < layout.rows(); ++row) {
        for (auto i = static_cast<std::size_t>(layout.row_offsets[static_cast<std::size_t>(row)]);
             i < static_cast<std::size_t>(layout.row_offsets[static_cast<std::size_t>(row) + 1]); ++i) {
            for (int token = 0; token < block * block; ++token) {
                const bool whole = layout.mask[i] < 0;
                if (whole ||
                    layout.masks[static_cast<std::size_t>(layout.mask[i])][static_cast<std::size_t>(token)] !=
                        0) {
                    pairs.emplace(row * block + token / block, layout.columns[i] * block + token % block);
                }
            }
        }
    }
    return pairs;
}

}  // namespace

DOCTEST_TEST_CASE("token_pattern: sliding, dilated and global windows, token by token") {
    for (const auto& [window, dilation, globals] :
         {std::tuple(5, 1, 0), std::tuple(3, 3, 0), std::tuple(4, 1, 6), std::tuple(0, 1, 1),
          std::tuple(9, 2, 4)}) {
        const int block = 4, blocks = 9;
        const BlockLayout layout = make_layout(longformer(block, window, dilation, globals), blocks, 0, 0);
        std::set<std::pair<int, int>> wanted;
        for (int i = 0; i < block * blocks; ++i) {
            for (int j = 0; j < block * blocks; ++j) {
                const int distance = i < j ? j - i : i - j;
                const bool near = distance <= window * dilation && distance % dilation == 0;
                if (near || i < globals || j < globals) {
                    wanted.emplace(i, j);
                }
            }
        }
        DOCTEST_CHECK(pairs_of(layout, block) == wanted);
    }
}

DOCTEST_TEST_CASE("token_pattern: masks do not grow with the length, nor does a row") {
    const PatternSpec spec = longformer(16, 40, 1, 3);
    const BlockLayout small = make_layout(spec, 20, 0, 0), large = make_layout(spec, 80, 0, 0);
    DOCTEST_CHECK(small.masks.size() == large.masks.size());
    DOCTEST_CHECK(large.columns.size() < 5 * small.columns.size());
}

DOCTEST_TEST_CASE("token_pattern: windows behind blocks of global tokens") {
    for (const auto& [front, blocks, window, dilation] :
         {std::tuple(0, 6, 5, 1), std::tuple(1, 6, 3, 3), std::tuple(2, 5, 40, 1), std::tuple(3, 1, 2, 1)}) {
        const int block = 4;
        const BlockLayout layout =
            windows_behind_front(longformer(block, window, dilation, 7), front, blocks);
        DOCTEST_CHECK(layout.rows() == front + blocks);
        std::set<std::pair<int, int>> wanted;
        for (int i = 0; i < block * (front + blocks); ++i) {
            for (int j = 0; j < block * (front + blocks); ++j) {
                const int distance = std::abs(i - j);
                const bool near = distance <= window * dilation && distance % dilation == 0;
                if (j < front * block || (i >= front * block && near)) wanted.emplace(i, j);
            }
        }
        DOCTEST_CHECK(pairs_of(layout, block) == wanted);
    }
    DOCTEST_CHECK(windows_behind_front(longformer(4, 9, 2, 0), 1, 200).masks ==
                  windows_behind_front(longformer(4, 9, 2, 0), 1, 50).masks);
}
