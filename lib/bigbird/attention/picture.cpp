// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/picture.hpp"

#include <algorithm>
#include <cstdlib>

namespace bigbird::attention {

namespace {

char letter(const PatternSpec& spec, int blocks, int row, int column, int multiplicity) {
    if (multiplicity > 1) {
        return static_cast<char>('0' + std::min(multiplicity, 9));
    }
    if (spec.is_full(blocks) || spec.is_global(blocks, row) || spec.is_global(blocks, column)) {
        return '#';
    }
    const bool window =
        spec.kind == PatternKind::longformer || std::abs(row - column) <= spec.window_blocks / 2;
    return window && spec.window_blocks > 0 ? 'o' : '*';
}

}  // namespace

std::string picture(const PatternSpec& spec, const BlockLayout& layout) {
    const auto blocks = static_cast<std::size_t>(layout.rows());
    std::string text;
    for (std::size_t row = 0; row < blocks; ++row) {
        std::string line(blocks, '.');
        for (auto i = static_cast<std::size_t>(layout.row_offsets[row]);
             i < static_cast<std::size_t>(layout.row_offsets[row + 1]); ++i) {
            line[static_cast<std::size_t>(layout.columns[i])] =
                letter(spec, layout.rows(), static_cast<int>(row), layout.columns[i], layout.multiplicity[i]);
        }
        text += line + '\n';
    }
    return text;
}

LayoutCost cost_of(const PatternSpec& spec, const BlockLayout& layout) {
    LayoutCost cost;
    cost.blocks = layout.rows();
    cost.pairs = static_cast<std::int64_t>(layout.columns.size());
    const auto blocks = static_cast<double>(cost.blocks), pairs = static_cast<double>(cost.pairs);
    cost.keys_per_query = pairs / blocks * spec.block_size;
    cost.share_of_full = pairs / (blocks * blocks);
    return cost;
}

}  // namespace bigbird::attention
