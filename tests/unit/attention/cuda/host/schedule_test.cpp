// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cuda/host/schedule.hpp"

#include "support/testing.hpp"
#include "unit/attention/cuda/device/cuda_cases.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

using namespace bigbird;
using namespace bigbird::attention;

using cuda::TeamLists, cuda::WorkList;

namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

/// (tokens, tokens): log2 of how often a query attends a key.
using Attended = std::vector<float>;

Attended by_layout(const BlockLayout& layout, int block) {
    const int length = layout.rows() * block;
    Attended pairs(static_cast<std::size_t>(length * length), never);
    for (int query = 0; query < length; ++query) {
        for (const std::size_t i : layout.entries(query / block)) {
            std::fill_n(pairs.begin() + query * length + layout.columns[i] * block, block,
                        std::log2(static_cast<float>(layout.multiplicity[i])));
        }
    }
    return pairs;
}

/// What the units of a head's query tiles, or of its key tiles, go through; no pair comes twice.
Attended by_units(const cuda::Schedule& schedule, int head, bool of_keys) {
    const cuda::Tiling& tiling = schedule.tiling;
    const WorkList& work = of_keys ? schedule.keys : schedule.queries;
    const int side = tiling.blocks_per_tile;
    Attended pairs(static_cast<std::size_t>(tiling.length * tiling.length), never);
    int again = 0;
    const auto add_tiles = [&](int query_tile, int key_tile, int bias) {
        for (int i = 0; i < cuda::count_tokens(tiling, query_tile); ++i) {
            for (int j = 0; j < cuda::count_tokens(tiling, key_tile); ++j) {
                const int of_blocks = i / tiling.block % side * side + j / tiling.block % side;
                const float value = schedule.biases[static_cast<std::size_t>(bias * side * side + of_blocks)];
                if (value == never) continue;
                float& pair = pairs[static_cast<std::size_t>((cuda::first_token_of(tiling, query_tile) + i) *
                                                                 tiling.length +
                                                             cuda::first_token_of(tiling, key_tile) + j)];
                again += pair != never;
                pair = value;
            }
        }
    };
    for (const cuda::Unit& unit : work.units) {
        for (int i = unit.first; unit.head == head && i < unit.first + unit.count; ++i) {
            const cuda::Entry& entry = work.entries[static_cast<std::size_t>(i)];
            DOCTEST_CHECK(entry.place == cuda::place_factor * cuda::first_token_of(tiling, entry.tile) +
                                             cuda::count_tokens(tiling, entry.tile));
            for (int of = 0; of < 2; ++of) {
                if (unit.tile[of] < 0 || entry.bias[of] < 0) continue;
                of_keys ? add_tiles(entry.tile, unit.tile[of], entry.bias[of])
                        : add_tiles(unit.tile[of], entry.tile, entry.bias[of]);
            }
        }
    }
    DOCTEST_CHECK(again == 0);
    return pairs;
}

void check_case(const testing::CudaCase& c) {
    DOCTEST_CAPTURE(c.pattern);
    DOCTEST_CAPTURE(c.block_size);
    DOCTEST_CAPTURE(c.blocks);
    DOCTEST_CAPTURE(c.longest);
    const std::vector<BlockLayout> heads = *layout_of(c).layouts;
    const cuda::Schedule schedule = cuda::make_schedule(heads, c.block_size, c.longest);
    for (int head = 0; head < 2; ++head) {
        const Attended wanted = by_layout(heads[static_cast<std::size_t>(head)], c.block_size);
        DOCTEST_CHECK((by_units(schedule, head, false) == wanted));
        DOCTEST_CHECK((by_units(schedule, head, true) == wanted));
    }
}

}  // namespace

DOCTEST_TEST_CASE(
    "cuda_schedule: units go through what the layout attends, token by token, forward and backward") {
    for (const testing::CudaCase& c : std::vector<testing::CudaCase>{
             {.pattern = "bigbird", .block_size = 16, .blocks = 13},
             {.pattern = "bigbird", .source = RandomSource::hf, .block_size = 16, .blocks = 14},
             {.pattern = "bigbird", .block_size = 32, .blocks = 15, .longest = 3},
             {.pattern = "bigbird", .block_size = 64, .blocks = 12, .longest = 4},
             {.pattern = "bigbird-first", .block_size = 64, .blocks = 13},
             {.pattern = "bigbird-etc", .block_size = 84, .blocks = 9},
             {.pattern = "window", .block_size = 48, .blocks = 9},
             {.pattern = "random", .block_size = 24, .blocks = 13},
             {.pattern = "random+window", .block_size = 5, .blocks = 31},
             {.pattern = "bigbird", .block_size = 70, .blocks = 3, .full = true},
             {.pattern = "full", .block_size = 16, .blocks = 9, .longest = 1},
             {.pattern = "bigbird", .block_size = 3, .blocks = 20, .longest = 9},
             {.pattern = "window", .block_size = 128, .blocks = 6, .longest = 2}})
        check_case(c);
}

DOCTEST_TEST_CASE("cuda_schedule: every tile is written once, and every part of a cut list") {
    const LayerLayout layout = testing::layout_of({.pattern = "bigbird", .blocks = 64, .heads = 3});
    const cuda::Schedule schedule = cuda::make_schedule(*layout.layouts, 64);
    for (const cuda::WorkList* work : {&schedule.queries, &schedule.keys}) {
        std::multiset<std::pair<int, int>> written;
        std::multiset<int> parts;
        for (const cuda::Unit& unit : work->units) {
            for (int side = 0; side < 2; ++side)
                if (unit.tile[side] >= 0 && unit.slot[side] < 0)
                    written.emplace(unit.head, unit.tile[side]);
                else if (unit.tile[side] >= 0)
                    parts.insert(unit.slot[side]);
        }
        for (const cuda::Sum& sum : work->sums) {
            written.emplace(sum.head, sum.tile);
            for (int i = sum.first; i < sum.first + sum.count; ++i)
                DOCTEST_CHECK(parts.count(i) == 1);
        }
        DOCTEST_CHECK(written.size() == 3 * 64);
        DOCTEST_CHECK(std::set(written.begin(), written.end()).size() == 3 * 64);
        DOCTEST_CHECK(parts.size() == static_cast<std::size_t>(work->slots));
    }
}

DOCTEST_TEST_CASE("cuda_schedule: global rows share units and are cut, neighbours share their keys") {
    const LayerLayout layout = testing::layout_of({.pattern = "bigbird", .blocks = 64, .heads = 1});
    const cuda::Schedule schedule = cuda::make_schedule(*layout.layouts, 64);
    std::size_t loads = 0;
    for (const cuda::Unit& unit : schedule.queries.units) {
        DOCTEST_CHECK(unit.count <= 16);
        const bool is_global = unit.tile[0] == 0 && unit.tile[1] == 63;
        DOCTEST_CHECK((unit.slot[0] >= 0) == is_global);
        loads += static_cast<std::size_t>(unit.count);
    }
    // 62 rows of 8 blocks two by two, of which 2 global and about 2 window blocks are shared, and 64 global
    // ones.
    DOCTEST_CHECK(loads < 64 + 31 * 13);
    DOCTEST_CHECK(loads > 64 + 31 * 10);
    DOCTEST_CHECK(schedule.queries.sums.size() == 2);
    DOCTEST_CHECK(schedule.keys.sums.size() >= 2);
    for (const cuda::Unit& unit : schedule.keys.units)
        DOCTEST_CHECK(unit.count <= 16);
}

DOCTEST_TEST_CASE("cuda_schedule: tiles cover every token once, for any block size") {
    for (int block = 1; block < 200; ++block) {
        for (const int blocks : {1, 2, 7}) {
            const cuda::Tiling tiling = cuda::make_tiling(blocks, block);
            std::vector<int> covered(static_cast<std::size_t>(tiling.length));
            for (int tile = 0; tile < tiling.tiles; ++tile) {
                DOCTEST_REQUIRE(cuda::count_tokens(tiling, tile) > 0);
                for (int i = 0; i < cuda::count_tokens(tiling, tile); ++i)
                    ++covered[static_cast<std::size_t>(cuda::first_token_of(tiling, tile) + i)];
            }
            DOCTEST_CHECK(std::ranges::all_of(covered, [](int times) { return times == 1; }));
        }
    }
}

DOCTEST_TEST_CASE("cuda_schedule: patterns of tokens are refused") {
    const PatternSpec spec = named_pattern("sliding");
    const std::string message = testing::message_of<ConfigError>(
        [&] { cuda::make_schedule({make_layout(spec, 12, 0, 0)}, spec.block_size); });
    DOCTEST_CHECK(message == "the CUDA kernels attend whole blocks: choose blocked for patterns of tokens");
}

namespace {

/// Attention of a network of base's size at 4,096 tokens.
cuda::Schedule base_schedule() {
    std::vector<BlockLayout> heads;
    for (int head = 0; head < 12; ++head)
        heads.push_back(make_layout(named_pattern("bigbird"), 64, 0, head));
    return cuda::make_schedule(heads, 64);
}

int cost_of(const WorkList& work, int number) {
    const auto unit = static_cast<std::size_t>(number) % work.units.size();
    return cuda::products_of(work, work.units[unit]) + cuda::products_around_unit;
}

/// Each team's units.
std::vector<std::vector<std::int32_t>> by_team(const TeamLists& lists) {
    std::vector<std::vector<std::int32_t>> teams;
    for (std::size_t team = 0; team + 1 < lists.first.size(); ++team) {
        teams.emplace_back(lists.units.begin() + lists.first[team],
                           lists.units.begin() + lists.first[team + 1]);
    }
    return teams;
}

/// The slow twin: looks at all blocks and all teams for each unit.
std::vector<std::vector<std::int32_t>> share_plainly(const WorkList& work, int samples, int blocks,
                                                     int of_block) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(samples) * work.units.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) { return cost_of(work, a) > cost_of(work, b); });
    const int needed = (static_cast<int>(order.size()) + of_block - 1) / of_block;
    std::vector<std::vector<int>> costs(static_cast<std::size_t>(std::min(blocks, needed)),
                                        std::vector<int>(static_cast<std::size_t>(of_block)));
    std::vector<std::vector<std::int32_t>> teams(costs.size() * static_cast<std::size_t>(of_block));
    for (const std::int32_t number : order) {
        const auto block = std::ranges::min_element(costs, {}, [](const std::vector<int>& of_teams) {
            return std::accumulate(of_teams.begin(), of_teams.end(), 0);
        });
        const auto team = std::ranges::min_element(*block);
        *team += cost_of(work, number);
        teams[static_cast<std::size_t>((block - costs.begin()) * of_block + (team - block->begin()))]
            .push_back(number);
    }
    for (std::vector<std::int32_t>& units : teams)
        std::ranges::sort(units);
    return teams;
}

/// The most work of a block over the mean.
double imbalance(const WorkList& work, const TeamLists& lists, int of_block) {
    const auto teams = by_team(lists);
    std::vector<double> blocks(teams.size() / static_cast<std::size_t>(of_block));
    for (std::size_t team = 0; team < teams.size(); ++team)
        for (const std::int32_t number : teams[team])
            blocks[team / static_cast<std::size_t>(of_block)] += cost_of(work, number);
    return *std::ranges::max_element(blocks) * static_cast<double>(blocks.size()) /
           std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

}  // namespace

DOCTEST_TEST_CASE("cuda_team_lists: units are shared as by the plain rule, each once") {
    const cuda::Schedule schedule = base_schedule();
    for (const auto& [samples, blocks, of_block] :
         {std::array{0, 5, 2}, std::array{1, 1, 1}, std::array{1, 1000, 3}, std::array{3, 7, 3},
          std::array{4, 132, 2}}) {
        for (const WorkList* work : {&schedule.queries, &schedule.keys}) {
            DOCTEST_CAPTURE(samples);
            DOCTEST_CAPTURE(blocks);
            const TeamLists lists = cuda::share_units(*work, samples, blocks, of_block);
            DOCTEST_CHECK((by_team(lists) == share_plainly(*work, samples, blocks, of_block)));
            std::vector<std::int32_t> all = lists.units,
                                      wanted(static_cast<std::size_t>(samples) * work->units.size());
            std::ranges::sort(all);
            std::iota(wanted.begin(), wanted.end(), 0);
            DOCTEST_CHECK((all == wanted));
            DOCTEST_CHECK(lists.teams() % of_block == 0);
        }
    }
}

DOCTEST_TEST_CASE("cuda_team_lists: the multiprocessors of an H100 get nearly the same work") {
    const cuda::Schedule schedule = base_schedule();
    const auto of = [&](const WorkList& work, int samples, int teams) {
        return imbalance(work, cuda::share_units(work, samples, 132, teams), teams);
    };
    DOCTEST_CHECK(of(schedule.queries, 16, cuda::query_teams) < 1.02);
    DOCTEST_CHECK(of(schedule.queries, 4, cuda::query_teams) < 1.12);
    DOCTEST_CHECK(of(schedule.keys, 16, cuda::key_teams) < 1.02);
    DOCTEST_CHECK(of(schedule.keys, 4, cuda::key_teams) < 1.12);
}
