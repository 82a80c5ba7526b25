// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cuda/host/team_lists.hpp"

#include "support/testing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

using namespace bigbird;
using namespace bigbird::attention;
using cuda::TeamLists;
using cuda::WorkList;

namespace {

/// Base's attention at 4,096 tokens.
cuda::Schedule base_schedule() {
    std::vector<BlockLayout> heads;
    for (int head = 0; head < 12; ++head) {
        heads.push_back(make_layout(named_pattern("bigbird"), 64, 0, head));
    }
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
    for (std::vector<std::int32_t>& units : teams) {
        std::ranges::sort(units);
    }
    return teams;
}

/// The most work of a block over the mean.
double imbalance(const WorkList& work, const TeamLists& lists, int of_block) {
    const auto teams = by_team(lists);
    std::vector<double> blocks(teams.size() / static_cast<std::size_t>(of_block));
    for (std::size_t team = 0; team < teams.size(); ++team) {
        for (const std::int32_t number : teams[team]) {
            blocks[team / static_cast<std::size_t>(of_block)] += cost_of(work, number);
        }
    }
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

DOCTEST_TEST_CASE("cuda_team_lists: at no time are the teams far apart in the heads") {
    const cuda::Schedule schedule = base_schedule();
    const WorkList& work = schedule.queries;
    const auto teams = by_team(cuda::share_units(work, 16, 132, cuda::query_teams));
    const int units = 16 * static_cast<int>(work.units.size());
    for (const auto& own : teams) {
        for (std::size_t i = 0; i < own.size(); ++i) {
            const double progress = static_cast<double>(i) / static_cast<double>(own.size());
            DOCTEST_CHECK(std::abs(progress - static_cast<double>(own[i]) / units) < 0.25);
        }
    }
}
