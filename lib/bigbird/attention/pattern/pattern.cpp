// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/pattern.hpp"

#include "bigbird/attention/pattern/random_plan.hpp"
#include "bigbird/attention/pattern/token_pattern.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <numeric>
#include <span>

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

/// How often each key block counts for the query block `row`, random blocks left out.
std::vector<std::int32_t> fixed_counts(const PatternSpec& spec, int blocks, int row) {
    std::vector<std::int32_t> counts(static_cast<std::size_t>(blocks), 0);
    const int reach = spec.window_blocks / 2;
    for (int block = 0; block < blocks; ++block) {
        const bool in_window = spec.window_blocks > 0 && std::abs(block - row) <= reach;
        counts[static_cast<std::size_t>(block)] = in_window || spec.is_global(blocks, block) ? 1 : 0;
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

/// The random blocks of one head by the authors' or transformers' plan: rows 1 .. blocks - 2, one after
/// another.
std::vector<std::int32_t> planned_blocks(const PatternSpec& spec, int blocks, int layer, int head) {
    RandomPlanSpec plan;
    plan.blocks = blocks;
    plan.block_size = spec.block_size;
    plan.random_blocks = spec.random_blocks;
    plan.heads = std::max(spec.plan_heads, head + 1);
    plan.google = spec.random_source == RandomSource::google;
    plan.plan_tokens = plan.google ? 4096 : spec.plan_tokens;
    const std::vector<std::int32_t> all = random_plan(plan, static_cast<std::uint32_t>(layer));
    const std::ptrdiff_t of_head = std::ptrdiff_t{blocks - 2} * spec.random_blocks;
    return {all.begin() + head * of_head, all.begin() + (head + 1) * of_head};
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

bool PatternSpec::is_global(int blocks, int block) const {
    if (kind == PatternKind::longformer) {
        return std::int64_t{block} * block_size < global_tokens;
    }
    if (globals == GlobalPlacement::first) {
        return block < global_blocks;
    }
    const int behind = global_blocks / 2, in_front = global_blocks - behind;
    return block < in_front || block >= blocks - behind;
}

void PatternSpec::validate() const {
    require(block_size >= 1, "block_size must be at least 1, not " + std::to_string(block_size));
    require(global_blocks >= 0, "the number of global blocks must not be negative");
    require(window_blocks == 0 || (window_blocks > 0 && window_blocks % 2 == 1),
            "the number of window blocks must be odd, or 0 for none, not " + std::to_string(window_blocks));
    require(random_blocks >= 0, "num_random_blocks must not be negative");
    require(window_blocks > 0 || random_blocks > 0 || global_blocks > 0,
            "without a window there must be random or global blocks");
    require(random_source == RandomSource::uniform ||
                (kind == PatternKind::bigbird && globals == GlobalPlacement::ends && global_blocks == 2 &&
                 window_blocks == 3),
            "random_blocks_source hf, seeded and google need two global blocks at the ends and three window "
            "blocks");
    require(
        window_tokens >= 0 && dilation >= 1 && global_tokens >= 0,
        "attention_window_tokens and num_global_tokens must not be negative, and attention_dilation at least "
        "1");
}

PatternSpec PatternSpec::in_training() const {
    PatternSpec spec = *this;
    if (random_source == RandomSource::hf) {
        spec.random_source = RandomSource::seeded;
    }
    return spec;
}

PatternSpec named_pattern(const std::string& name) {
    PatternSpec spec;
    const auto parts = [&](int globals, int window, int random) {
        spec.global_blocks = globals;
        spec.window_blocks = window;
        spec.random_blocks = random;
        return spec;
    };
    if (name == "bigbird") return spec;
    if (name == "window") return parts(0, 3, 0);
    if (name == "random") return parts(0, 0, 3);
    if (name == "random+window") return parts(0, 3, 3);
    if (name == "bigbird-first" || name == "bigbird-etc") {
        spec.globals = GlobalPlacement::first;
        spec.block_size = name == "bigbird-etc" ? 84 : 64;
        return name == "bigbird-etc" ? parts(4, 3, 0) : spec;
    }
    if (name == "full") {
        spec.full = true;
        return spec;
    }
    spec.kind = PatternKind::longformer;
    if (name == "dilated") {
        spec.window_tokens = 128;
        spec.dilation = 2;
        return spec;
    }
    if (name == "global+sliding") {
        spec.global_tokens = 64;
        return spec;
    }
    if (name == "sliding") return spec;
    throw ConfigError(
        "no attention pattern is named '" + name +
        "': choose bigbird, bigbird-first, bigbird-etc, full, window, random, random+window, sliding, "
        "dilated or global+sliding");
}

BlockLayout make_layout(const PatternSpec& spec, int blocks, int layer, int head) {
    BIGBIRD_EXPECTS(blocks >= 1, "a layout has at least one block");
    if (spec.kind == PatternKind::longformer && !spec.full) {
        return token_layout(spec, blocks);
    }
    const bool planned =
        (spec.random_source == RandomSource::seeded || spec.random_source == RandomSource::google) &&
        spec.random_blocks > 0 && !spec.is_full(blocks);
    const std::vector<std::int32_t> plan =
        planned ? planned_blocks(spec, blocks, layer, head) : std::vector<std::int32_t>{};
    const Rng stream = Rng(spec.random_seed).split("random-blocks").split(number(layer)).split(number(head));
    const std::vector<std::int32_t> everything(static_cast<std::size_t>(blocks), 1);
    BlockLayout layout;
    for (int row = 0; row < blocks; ++row) {
        if (spec.is_full(blocks) || spec.is_global(blocks, row)) {
            append_row(layout, everything);
            continue;
        }
        std::vector<std::int32_t> counts = fixed_counts(spec, blocks, row);
        if (spec.random_source == RandomSource::hf) {
            counts[0] += spec.random_blocks;
        } else if (planned) {
            const auto width = static_cast<std::size_t>(spec.random_blocks);
            for (const std::int32_t pick :
                 std::span(plan).subspan(static_cast<std::size_t>(row - 1) * width, width)) {
                ++counts[static_cast<std::size_t>(pick)];
            }
        } else {
            add_uniform(counts, spec.random_blocks, stream.split(number(row)));
        }
        append_row(layout, counts);
    }
    return layout;
}

}  // namespace bigbird::attention
