// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/token_pattern.hpp"

#include <algorithm>
#include <cstdlib>

namespace bigbird::attention {

namespace {

ElementMask mask_of(const PatternSpec& spec, int row, int column) {
    const std::int64_t block = spec.block_size;
    ElementMask mask;
    mask.reserve(static_cast<std::size_t>(block * block));
    for (std::int64_t i = row * block; i < (row + 1) * block; ++i) {
        for (std::int64_t j = column * block; j < (column + 1) * block; ++j) {
            mask.push_back(token_attends(spec, i, j) ? 1 : 0);
        }
    }
    return mask;
}

}  // namespace

bool token_attends(const PatternSpec& spec, std::int64_t i, std::int64_t j) {
    if (i < spec.global_tokens || j < spec.global_tokens) {
        return true;
    }
    const std::int64_t distance = std::abs(i - j);
    return distance <= std::int64_t{spec.window_tokens} * spec.dilation && distance % spec.dilation == 0;
}

BlockLayout token_layout(const PatternSpec& spec, int blocks) {
    const std::int64_t reach_tokens = std::int64_t{spec.window_tokens} * spec.dilation;
    const auto reach = static_cast<int>(
        std::min<std::int64_t>(blocks, (reach_tokens + spec.block_size - 1) / spec.block_size));
    const int with_globals = (spec.global_tokens + spec.block_size - 1) / spec.block_size;
    BlockLayout layout;
    for (int row = 0; row < blocks; ++row) {
        for (int column = 0; column < blocks; ++column) {
            if (std::abs(row - column) > reach && row >= with_globals && column >= with_globals) {
                continue;
            }
            const ElementMask mask = mask_of(spec, row, column);
            const auto attended = std::ranges::count(mask, std::uint8_t{1});
            if (attended == 0) {
                continue;
            }
            std::int32_t place = -1;
            if (attended != static_cast<std::ptrdiff_t>(mask.size())) {
                const auto found = std::ranges::find(layout.masks, mask);
                place = static_cast<std::int32_t>(found - layout.masks.begin());
                if (found == layout.masks.end()) {
                    layout.masks.push_back(mask);
                }
            }
            layout.columns.push_back(column);
            layout.multiplicity.push_back(1);
            layout.mask.push_back(place);
        }
        layout.row_offsets.push_back(static_cast<std::int32_t>(layout.columns.size()));
    }
    return layout;
}

}  // namespace bigbird::attention
