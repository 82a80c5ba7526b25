// SPDX-License-Identifier: Apache-2.0
// How evenly a persistent grid's work is shared (attention/cuda/host/schedule.hpp), counted, not measured:
// base's attention over sequences of 4,096 tokens on a device with so many multiprocessors.
//   schedule_bench [MULTIPROCESSORS, default 132]
// A row a pass and batch: the most work of a multiprocessor over the mean, and of a team over the mean, where
// teams take neighbouring units in turn, and by share_units().
#include "bigbird/attention/cuda/host/schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>

namespace {

using namespace bigbird::attention;
using cuda::WorkList;

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

double most_over_mean(const std::vector<double>& values) {
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    return *std::max_element(values.begin(), values.end()) / mean;
}

struct Balance {
    double blocks, teams;
};
Balance balance_of(const std::vector<double>& teams, int of_block) {
    std::vector<double> blocks(teams.size() / at(of_block));
    for (std::size_t team = 0; team < teams.size(); ++team)
        blocks[team / at(of_block)] += teams[team];
    return {most_over_mean(blocks), most_over_mean(teams)};
}

double cost_of(const WorkList& work, int number) {
    const cuda::Unit& unit = work.units[at(number) % work.units.size()];
    return cuda::products_of(work, unit) + cuda::products_around_unit;
}

/// One of every so many neighbours as there are teams, another one each time.
std::vector<double> in_turn(const WorkList& work, int samples, int blocks, int of_block) {
    const int all = blocks * of_block, units = samples * static_cast<int>(work.units.size());
    std::vector<double> teams(at(all));
    for (int first = 0; first < units; first += all) {
        const unsigned turn = static_cast<unsigned>(first) * 0x9E3779B9U >> 16;
        for (int team = 0; team < all; ++team) {
            const int number =
                first + static_cast<int>((static_cast<unsigned>(team) + turn) % static_cast<unsigned>(all));
            teams[at(team)] += number < units ? cost_of(work, number) : 0;
        }
    }
    return teams;
}

std::vector<double> longest_first(const WorkList& work, int samples, int blocks, int of_block) {
    const cuda::TeamLists lists = cuda::share_units(work, samples, blocks, of_block);
    std::vector<double> teams(at(lists.teams()));
    for (std::size_t team = 0; team < teams.size(); ++team)
        for (int i = lists.first[team]; i < lists.first[team + 1]; ++i)
            teams[team] += cost_of(work, lists.units[at(i)]);
    return teams;
}

void report(const char* pass, const WorkList& work, int samples, int blocks, int of_block) {
    const Balance turn = balance_of(in_turn(work, samples, blocks, of_block), of_block),
                  first = balance_of(longest_first(work, samples, blocks, of_block), of_block);
    std::printf("%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", pass, samples, turn.blocks, turn.teams, first.blocks,
                first.teams);
}

}  // namespace

int main(int argc, char** argv) {
    const int blocks = argc > 1 ? std::stoi(argv[1]) : 132;
    std::vector<BlockLayout> heads;
    for (int head = 0; head < 12; ++head)
        heads.push_back(make_layout(named_pattern("bigbird"), 64, 0, head));
    const cuda::Schedule schedule = cuda::make_schedule(heads, 64);
    std::puts("pass\tbatch\tin_turn_sm\tin_turn_team\tlongest_first_sm\tlongest_first_team");
    for (const int samples : {1, 2, 4, 8, 16, 64}) {
        report("forward, dq", schedule.queries, samples, blocks, cuda::query_teams);
        report("dk and dv", schedule.keys, samples, blocks, cuda::key_teams);
    }
    return 0;
}
