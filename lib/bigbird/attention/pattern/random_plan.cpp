// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/random_plan.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <random>
#include <string>

namespace bigbird::attention {

namespace {

/// numpy's legacy generator: MT19937 with its own way to bounded numbers and permutations.
class NumpyRandom {
public:
    explicit NumpyRandom(std::uint32_t seed) : bits_(seed) {}

    void permute(std::vector<std::int32_t>& values) {
        for (std::size_t i = values.size(); i-- > 1;) {
            std::swap(values[i], values[up_to(static_cast<std::uint32_t>(i))]);
        }
    }

private:
    /// 0 .. largest, by masking and rejection.
    std::uint32_t up_to(std::uint32_t largest) {
        std::uint32_t mask = largest;
        for (const int shift : {1, 2, 4, 8, 16}) {
            mask |= mask >> shift;
        }
        while (true) {
            const std::uint32_t value = static_cast<std::uint32_t>(bits_()) & mask;
            if (value <= largest) {
                return value;
            }
        }
    }
    std::mt19937 bits_;
};

void append_range(std::vector<std::int32_t>& values, int first, int last) {
    for (int value = first; value <= last; ++value) {
        values.push_back(value);
    }
}

/// The blocks that row `row` of the first plan may draw, for `blocks` blocks of which 1 .. `last` count.
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
std::vector<std::int32_t> first_plan(const RandomPlanSpec& spec, NumpyRandom& random) {
    const int planned = spec.plan_tokens / spec.block_size, rows = spec.blocks - 2;
    const int last = 1024 > 2 * spec.block_size ? 1024 / spec.block_size - 1 : planned - 1;
    if (planned < spec.blocks) {
        throw ConfigError("the random blocks of " + std::to_string(spec.blocks * spec.block_size) +
                          " tokens are drawn for max_position_embeddings, which is only " +
                          std::to_string(spec.plan_tokens));
    }
    std::vector<std::int32_t> picks;
    for (int head = 0; head < spec.heads; ++head) {
        for (int row = 1; row <= planned - 2; ++row) {
            std::vector<std::int32_t> candidates = first_plan_candidates(row, planned, last);
            random.permute(candidates);
            if (row > rows) {
                continue;  // drawn all the same: the next head goes on from here
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

/// Rows by rows, the heads within: random blocks among the first 5 + 2 random_blocks.
std::vector<std::int32_t> general_plan(const RandomPlanSpec& spec, NumpyRandom& random) {
    const int planned = 5 + 2 * spec.random_blocks, rows = spec.blocks - 2;
    const auto width = static_cast<std::size_t>(spec.random_blocks);
    std::vector<std::int32_t> picks(static_cast<std::size_t>(spec.heads * rows) * width);
    for (int row = 1; row <= rows; ++row) {
        for (int head = 0; head < spec.heads; ++head) {
            const std::vector<std::int32_t> chosen = general_row(row, planned, spec.random_blocks, random);
            std::ranges::copy(chosen,
                              picks.begin() + static_cast<std::ptrdiff_t>(
                                                  static_cast<std::size_t>(head * rows + row - 1) * width));
        }
    }
    return picks;
}

}  // namespace

std::vector<std::int32_t> random_plan(const RandomPlanSpec& spec, std::uint32_t seed) {
    BIGBIRD_EXPECTS(spec.blocks > 5 + 2 * spec.random_blocks, "short sequences attend fully");
    const int tokens = spec.blocks * spec.block_size;
    NumpyRandom random(seed);
    const bool first = tokens == 1024 || tokens == 3072 || tokens == 4096 || (spec.google && tokens == 2048);
    return first ? first_plan(spec, random) : general_plan(spec, random);
}

}  // namespace bigbird::attention
