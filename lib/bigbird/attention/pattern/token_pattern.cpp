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

/// The furthest block that a window reaches.
int reach_of(const PatternSpec& spec, int blocks) {
    const std::int64_t tokens = std::int64_t{spec.window_tokens} * spec.dilation;
    return static_cast<int>(std::min<std::int64_t>(blocks, (tokens + spec.block_size - 1) / spec.block_size));
}

constexpr std::int32_t not_attended = -2;

/// What a mask is: its place in `masks`, where it is added; -1 where all is attended, or not_attended.
std::int32_t place_of(ElementMask mask, std::vector<ElementMask>& masks) {
    const auto attended = std::ranges::count(mask, std::uint8_t{1});
    if (attended == 0) return not_attended;
    if (attended == static_cast<std::ptrdiff_t>(mask.size())) return -1;
    const auto found = std::ranges::find(masks, mask);
    const auto place = static_cast<std::int32_t>(found - masks.begin());
    if (found == masks.end()) masks.push_back(std::move(mask));
    return place;
}

void append(BlockLayout& layout, int column, std::int32_t place) {
    if (place == not_attended) return;
    layout.columns.push_back(column);
    layout.multiplicity.push_back(1);
    layout.mask.push_back(place);
}

void end_row(BlockLayout& layout) {
    layout.row_offsets.push_back(static_cast<std::int32_t>(layout.columns.size()));
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
    const int reach = reach_of(spec, blocks);
    const int with_globals = (spec.global_tokens + spec.block_size - 1) / spec.block_size;
    BlockLayout layout;
    for (int row = 0; row < blocks; ++row) {
        for (int column = 0; column < blocks; ++column) {
            if (std::abs(row - column) <= reach || row < with_globals || column < with_globals) {
                append(layout, column, place_of(mask_of(spec, row, column), layout.masks));
            }
        }
        end_row(layout);
    }
    return layout;
}

BlockLayout windows_behind_front(const PatternSpec& spec, int front, int blocks) {
    PatternSpec window = spec;
    window.global_tokens = 0;
    const int reach = reach_of(spec, blocks);
    BlockLayout layout;
    std::vector<std::int32_t> places;  // by distance, from -reach
    for (int column = 0; column <= 2 * reach; ++column) {
        places.push_back(place_of(mask_of(window, reach, column), layout.masks));
    }
    for (int row = -front; row < blocks; ++row) {
        for (int column = 0; column < front; ++column) {
            append(layout, column, -1);
        }
        for (int column = std::max(0, row - reach); row >= 0 && column <= std::min(blocks - 1, row + reach);
             ++column) {
            append(layout, front + column, places[static_cast<std::size_t>(column - row + reach)]);
        }
        end_row(layout);
    }
    return layout;
}

}  // namespace bigbird::attention
