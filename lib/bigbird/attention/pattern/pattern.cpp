// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/pattern.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <string>

namespace bigbird::attention {

namespace {

/// numpy's legacy generator: MT19937 with numpy's methods for bounded numbers and permutations.
class NumpyRandom {
public:
    explicit NumpyRandom(std::uint32_t seed) : bits_(seed) {}

    void permute(std::vector<std::int32_t>& values) {
        for (std::size_t i = values.size(); i-- > 1;)
            std::swap(values[i], values[up_to(static_cast<std::uint32_t>(i))]);
    }

private:
    /// 0 .. largest, by masking and rejection.
    std::uint32_t up_to(std::uint32_t largest) {
        std::uint32_t mask = largest;
        for (const int shift : {1, 2, 4, 8, 16})
            mask |= mask >> shift;
        while (true) {
            const std::uint32_t value = static_cast<std::uint32_t>(bits_()) & mask;
            if (value <= largest) return value;
        }
    }
    std::mt19937 bits_;
};

void append_range(std::vector<std::int32_t>& values, int first, int last) {
    for (int value = first; value <= last; ++value)
        values.push_back(value);
}

/// The blocks that row `row` of the first plan may draw, for `blocks` blocks of which 1 .. `last` are
/// allowed.
std::vector<std::int32_t> first_plan_candidates(int row, int blocks, int last) {
    const int end = std::min(last, blocks - 2);
    std::vector<std::int32_t> candidates;
    if (row == 1) {
        append_range(candidates, 3, end);
    } else if (row == 2) {
        append_range(candidates, 4, end);
    } else if (row == blocks - 3 || row == blocks - 2 || row - 2 > last) {
        append_range(candidates, 1, end);
    } else if (row + 1 == last) {
        append_range(candidates, 1, row - 2);
    } else {
        append_range(candidates, 1, std::min(row - 2, blocks - 2));
        append_range(candidates, row + 2, end);
    }
    return candidates;
}

/// Drawn for plan_tokens, of which the first rows are used.
std::vector<std::int32_t> first_plan(const PatternSpec& spec, int blocks, int heads, NumpyRandom& random) {
    const int plan_tokens = spec.random_source == RandomSource::google ? 4096 : spec.plan_tokens;
    const int planned = plan_tokens / spec.block_size, rows = blocks - 2;
    const int last = 1024 > 2 * spec.block_size ? 1024 / spec.block_size - 1 : planned - 1;
    if (planned < blocks) {
        throw ConfigError("the random blocks of " + std::to_string(blocks * spec.block_size) +
                          " tokens are drawn for max_position_embeddings, which is only " +
                          std::to_string(plan_tokens));
    }
    std::vector<std::int32_t> picks;
    for (int head = 0; head < heads; ++head) {
        for (int row = 1; row <= planned - 2; ++row) {
            std::vector<std::int32_t> candidates = first_plan_candidates(row, planned, last);
            random.permute(candidates);
            if (row > rows) {
                continue;  // drawn although it is not used, because the next head continues from this state
                           // of the generator
            }
            if (static_cast<int>(candidates.size()) < spec.random_blocks) {
                throw ConfigError("num_random_blocks " + std::to_string(spec.random_blocks) +
                                  " is more than the blocks that the plan of 1,024 tokens can draw");
            }
            picks.insert(picks.end(), candidates.begin(), candidates.begin() + spec.random_blocks);
        }
    }
    return picks;
}

/// One row of the general plan: the first picks of a permutation that are not attended already.
std::vector<std::int32_t> general_row(int row, int planned, int wanted, NumpyRandom& random) {
    std::vector<std::int32_t> order;
    append_range(order, 0, planned - 1);
    random.permute(order);
    std::erase_if(order, [&](int block) {
        return (block >= row - 1 && block <= row + 1) || block == 0 || block == planned - 1 ||
               (row == 1 && block == planned - 2) || (row == planned - 2 && block == 1);
    });
    order.resize(static_cast<std::size_t>(wanted));
    return order;
}

/// Draws row by row, with all heads of a row together: random blocks among the first 5 + 2 random_blocks.
std::vector<std::int32_t> general_plan(const PatternSpec& spec, int blocks, int heads, NumpyRandom& random) {
    const int planned = spec.full_up_to_blocks(), rows = blocks - 2;
    const auto width = static_cast<std::size_t>(spec.random_blocks);
    std::vector<std::int32_t> picks(static_cast<std::size_t>(heads * rows) * width);
    for (int row = 1; row <= rows; ++row) {
        for (int head = 0; head < heads; ++head) {
            const std::vector<std::int32_t> chosen = general_row(row, planned, spec.random_blocks, random);
            std::ranges::copy(chosen,
                              picks.begin() + static_cast<std::ptrdiff_t>(
                                                  static_cast<std::size_t>(head * rows + row - 1) * width));
        }
    }
    return picks;
}

}  // namespace

std::vector<std::int32_t> random_plan(const PatternSpec& spec, int blocks, int heads, std::uint32_t seed) {
    BIGBIRD_EXPECTS(blocks > spec.full_up_to_blocks(), "short sequences attend fully");
    const int tokens = blocks * spec.block_size;
    NumpyRandom random(seed);
    const bool google = spec.random_source == RandomSource::google;
    const bool first = tokens == 1024 || tokens == 3072 || tokens == 4096 || (google && tokens == 2048);
    return first ? first_plan(spec, blocks, heads, random) : general_plan(spec, blocks, heads, random);
}

namespace {

void require(bool condition, const std::string& message) {
    if (!condition) throw ConfigError("attention pattern: " + message);
}

std::uint64_t number(int value) {
    return static_cast<std::uint64_t>(value);
}

/// How often each key block counts for the query block `row`, without random blocks.
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
    for (std::size_t block = 0; block < counts.size(); ++block)
        if (counts[block] == 0) candidates.push_back(block);
    const std::size_t taken = std::min(candidates.size(), static_cast<std::size_t>(wanted));
    draw_to_front(candidates, taken, rng);
    for (std::size_t i = 0; i < taken; ++i)
        counts[candidates[i]] = 1;
}

/// The random blocks of one head by the authors' or transformers' plan: rows 1 .. blocks - 2, one after
/// another.
std::vector<std::int32_t> planned_blocks(const PatternSpec& spec, int blocks, int layer, int head) {
    const std::vector<std::int32_t> all =
        random_plan(spec, blocks, std::max(spec.plan_heads, head + 1), static_cast<std::uint32_t>(layer));
    const std::ptrdiff_t of_head = std::ptrdiff_t{blocks - 2} * spec.random_blocks;
    return {all.begin() + head * of_head, all.begin() + (head + 1) * of_head};
}

void append(BlockLayout& layout, std::size_t column, std::int32_t count) {
    layout.columns.push_back(static_cast<std::int32_t>(column));
    layout.multiplicity.push_back(count);
}

void end_row(BlockLayout& layout) {
    layout.row_offsets.push_back(static_cast<std::int32_t>(layout.columns.size()));
}

void append_row(BlockLayout& layout, const std::vector<std::int32_t>& counts) {
    for (std::size_t block = 0; block < counts.size(); ++block)
        if (counts[block] > 0) append(layout, block, counts[block]);
    end_row(layout);
}

// Longformer's patterns: windows counted in tokens become blocks with element masks.

/// Whether token i attends token j.
bool token_attends(const PatternSpec& spec, std::int64_t i, std::int64_t j) {
    if (i < spec.global_tokens || j < spec.global_tokens) return true;
    const std::int64_t distance = std::abs(i - j);
    return distance <= std::int64_t{spec.window_tokens} * spec.dilation && distance % spec.dilation == 0;
}

ElementMask mask_of(const PatternSpec& spec, int row, int column) {
    const std::int64_t block = spec.block_size;
    ElementMask mask;
    mask.reserve(static_cast<std::size_t>(block * block));
    for (std::int64_t i = row * block; i < (row + 1) * block; ++i)
        for (std::int64_t j = column * block; j < (column + 1) * block; ++j)
            mask.push_back(token_attends(spec, i, j) ? 1 : 0);
    return mask;
}

/// The furthest block that a window reaches.
int reach_of(const PatternSpec& spec, int blocks) {
    const std::int64_t tokens = std::int64_t{spec.window_tokens} * spec.dilation;
    return static_cast<int>(std::min<std::int64_t>(blocks, filled_blocks(tokens, spec.block_size)));
}

constexpr std::int32_t not_attended = -2;

/// Returns a mask's index in `masks`, adding it if new; -1 where all is attended, or not_attended.
std::int32_t place_of(ElementMask mask, std::vector<ElementMask>& masks) {
    const auto attended = std::ranges::count(mask, std::uint8_t{1});
    if (attended == 0) return not_attended;
    if (attended == static_cast<std::ptrdiff_t>(mask.size())) return -1;
    const auto found = std::ranges::find(masks, mask);
    const auto index = static_cast<std::int32_t>(found - masks.begin());
    if (found == masks.end()) masks.push_back(std::move(mask));
    return index;
}

void append_masked(BlockLayout& layout, int column, std::int32_t index) {
    if (index == not_attended) return;
    append(layout, static_cast<std::size_t>(column), 1);
    layout.mask.push_back(index);
}

/// Blocks without an attended token are left out, fully attended blocks have no mask, and equal masks are
/// kept once.
BlockLayout token_layout(const PatternSpec& spec, int blocks) {
    const int reach = reach_of(spec, blocks);
    const std::int64_t with_globals = filled_blocks(spec.global_tokens, spec.block_size);
    BlockLayout layout;
    for (int row = 0; row < blocks; ++row) {
        for (int column = 0; column < blocks; ++column)
            if (std::abs(row - column) <= reach || row < with_globals || column < with_globals)
                append_masked(layout, column, place_of(mask_of(spec, row, column), layout.masks));
        end_row(layout);
    }
    return layout;
}

}  // namespace

bool PatternSpec::is_global(int blocks, int block) const {
    if (kind == PatternKind::longformer) return std::int64_t{block} * block_size < global_tokens;
    if (globals == GlobalPlacement::first) return block < global_blocks;
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
    if (random_source == RandomSource::hf) spec.random_source = RandomSource::seeded;
    return spec;
}

PatternSpec named_pattern(const std::string& name) {
    constexpr auto first = GlobalPlacement::first;
    constexpr auto longformer = PatternKind::longformer;
    constexpr Choices<PatternSpec, 10> patterns{
        {{{}, "bigbird"},
         {{.globals = first}, "bigbird-first"},
         {{.block_size = 84, .global_blocks = 4, .random_blocks = 0, .globals = first}, "bigbird-etc"},
         {{.full = true}, "full"},
         {{.global_blocks = 0, .random_blocks = 0}, "window"},
         {{.global_blocks = 0, .window_blocks = 0}, "random"},
         {{.global_blocks = 0}, "random+window"},
         {{.kind = longformer}, "sliding"},
         {{.kind = longformer, .window_tokens = 128, .dilation = 2}, "dilated"},
         {{.kind = longformer, .global_tokens = 64}, "global+sliding"}}};
    for (const auto& [pattern, word] : patterns)
        if (word == name) return pattern;
    throw ConfigError("no attention pattern is named '" + name + "': choose " + list_of_words(patterns));
}

BlockLayout make_layout(const PatternSpec& spec, int blocks, int layer, int head) {
    BIGBIRD_EXPECTS(blocks >= 1, "a layout has at least one block");
    if (spec.kind == PatternKind::longformer && !spec.full) return token_layout(spec, blocks);
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
                 std::span(plan).subspan(static_cast<std::size_t>(row - 1) * width, width))
                ++counts[static_cast<std::size_t>(pick)];
        } else {
            add_uniform(counts, spec.random_blocks, stream.split(number(row)));
        }
        append_row(layout, counts);
    }
    return layout;
}

BlockLayout windows_behind_front(const PatternSpec& spec, int front, int blocks) {
    PatternSpec window = spec;
    window.global_tokens = 0;
    const int reach = reach_of(spec, blocks);
    BlockLayout layout;
    std::vector<std::int32_t> places;  // by distance, from -reach
    for (int column = 0; column <= 2 * reach; ++column)
        places.push_back(place_of(mask_of(window, reach, column), layout.masks));
    for (int row = -front; row < blocks; ++row) {
        for (int column = 0; column < front; ++column)
            append_masked(layout, column, -1);
        for (int column = std::max(0, row - reach); row >= 0 && column <= std::min(blocks - 1, row + reach);
             ++column) {
            append_masked(layout, front + column,
                          places[static_cast<std::size_t>(std::ptrdiff_t{column} - row + reach)]);
        }
        end_row(layout);
    }
    return layout;
}

}  // namespace bigbird::attention
