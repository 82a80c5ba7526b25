// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <numeric>

namespace bigbird::attention {

namespace {

void require(bool condition, const std::string& message) {
    if (!condition) {
        throw ConfigError("attention pattern: " + message);
    }
}

std::uint64_t number(int value) {
    return static_cast<std::uint64_t>(value);
}

bool is_global(const PatternSpec& spec, int blocks, int block) {
    if (spec.globals == GlobalPlacement::first) {
        return block < spec.global_blocks;
    }
    const int behind = spec.global_blocks / 2, in_front = spec.global_blocks - behind;
    return block < in_front || block >= blocks - behind;
}

/// How often each key block counts for the query block `row`, random blocks left out.
std::vector<std::int32_t> fixed_counts(const PatternSpec& spec, int blocks, int row) {
    std::vector<std::int32_t> counts(static_cast<std::size_t>(blocks), 0);
    const int reach = spec.window_blocks / 2;
    for (int block = 0; block < blocks; ++block) {
        const bool in_window = std::abs(block - row) <= reach;
        counts[static_cast<std::size_t>(block)] = in_window || is_global(spec, blocks, block) ? 1 : 0;
    }
    return counts;
}

void add_uniform(std::vector<std::int32_t>& counts, int wanted, Rng rng) {
    std::vector<std::size_t> candidates;
    for (std::size_t block = 0; block < counts.size(); ++block) {
        if (counts[block] == 0) {
            candidates.push_back(block);
        }
    }
    const std::size_t taken = std::min(candidates.size(), static_cast<std::size_t>(wanted));
    for (std::size_t i = 0; i < taken; ++i) {
        const auto last = static_cast<std::int64_t>(candidates.size()) - 1;
        std::swap(candidates[i],
                  candidates[static_cast<std::size_t>(rng.between(static_cast<std::int64_t>(i), last))]);
        counts[candidates[i]] = 1;
    }
}

void append_row(BlockLayout& layout, const std::vector<std::int32_t>& counts) {
    for (std::size_t block = 0; block < counts.size(); ++block) {
        if (counts[block] > 0) {
            layout.columns.push_back(static_cast<std::int32_t>(block));
            layout.multiplicity.push_back(counts[block]);
        }
    }
    layout.row_offsets.push_back(static_cast<std::int32_t>(layout.columns.size()));
}

}  // namespace

void PatternSpec::validate() const {
    require(block_size >= 1, "block_size must be at least 1, not " + std::to_string(block_size));
    require(global_blocks >= 0, "the number of global blocks must not be negative");
    require(window_blocks >= 1 && window_blocks % 2 == 1,
            "the number of window blocks must be odd, not " + std::to_string(window_blocks));
    require(random_blocks >= 0, "num_random_blocks must not be negative");
    require(global_blocks + window_blocks <= full_up_to_blocks() + 1,
            "global and window blocks must fit into the shortest sparse sequence, " +
                std::to_string(full_up_to_blocks() + 1) + " blocks");
    require(random_source != RandomSource::hf ||
                (globals == GlobalPlacement::ends && global_blocks == 2 && window_blocks == 3),
            "random_blocks_source hf needs two global blocks at the ends and three window blocks");
}

BlockLayout make_layout(const PatternSpec& spec, int blocks, int layer, int head) {
    BIGBIRD_EXPECTS(blocks >= 1, "a layout has at least one block");
    const Rng stream = Rng(spec.random_seed).split("random-blocks").split(number(layer)).split(number(head));
    const std::vector<std::int32_t> everything(static_cast<std::size_t>(blocks), 1);
    BlockLayout layout;
    for (int row = 0; row < blocks; ++row) {
        if (spec.is_full(blocks) || is_global(spec, blocks, row)) {
            append_row(layout, everything);
            continue;
        }
        std::vector<std::int32_t> counts = fixed_counts(spec, blocks, row);
        if (spec.random_source == RandomSource::hf) {
            counts[0] += spec.random_blocks;
        } else {
            add_uniform(counts, spec.random_blocks, stream.split(number(row)));
        }
        append_row(layout, counts);
    }
    return layout;
}

}  // namespace bigbird::attention
