// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cuda/host/team_lists.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace bigbird::attention::cuda {

namespace {

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

/// What each unit of a sample costs, in products.
std::vector<std::int64_t> costs_of(const WorkList& work) {
    std::vector<std::int64_t> costs;
    for (const Unit& unit : work.units) {
        costs.push_back(products_of(work, unit) + products_around_unit);
    }
    return costs;
}

/// The units of a sample, the longest first, equals in their order.
std::vector<std::int32_t> longest_first(const std::vector<std::int64_t>& costs) {
    std::vector<std::int32_t> order(costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return costs[at(a)] > costs[at(b)]; });
    return order;
}

/// The teams' work so far, and who gets the next unit.
class Grid {
public:
    Grid(int blocks, int of_block) : of_block_(of_block), team_work_(at(std::int64_t{blocks} * of_block)) {
        for (int block = 0; block < blocks; ++block) {
            blocks_.emplace(0, block);
        }
    }
    /// The team that gets a unit of this cost.
    std::size_t give(std::int64_t cost) {
        const auto [work, block] = blocks_.top();
        blocks_.pop();
        blocks_.emplace(work + cost, block);
        const auto begin = team_work_.begin() + std::ptrdiff_t{block} * of_block_;
        const auto team = std::min_element(begin, begin + of_block_);
        *team += cost;
        return at(team - team_work_.begin());
    }
    std::size_t teams() const { return team_work_.size(); }

private:
    using WorkOfBlock = std::pair<std::int64_t, int>;  // the least work first, then the first block
    int of_block_;
    std::priority_queue<WorkOfBlock, std::vector<WorkOfBlock>, std::greater<>> blocks_;
    std::vector<std::int64_t> team_work_;
};

TeamLists flatten(std::vector<std::vector<std::int32_t>> teams) {
    TeamLists lists;
    lists.first.push_back(0);
    for (std::vector<std::int32_t>& units : teams) {
        std::sort(units.begin(), units.end());
        lists.units.insert(lists.units.end(), units.begin(), units.end());
        lists.first.push_back(static_cast<std::int32_t>(lists.units.size()));
    }
    return lists;
}

}  // namespace

int products_of(const WorkList& work, const Unit& unit) {
    int products = 0;
    for (int i = unit.first; i < unit.first + unit.count; ++i) {
        const Entry& entry = work.entries[at(i)];
        products += (entry.bias[0] >= 0 ? 1 : 0) + (entry.bias[1] >= 0 ? 1 : 0);
    }
    return products;
}

TeamLists share_units(const WorkList& work, int samples, int blocks, int of_block) {
    BIGBIRD_EXPECTS(blocks > 0 && of_block > 0, "a grid has teams");
    const auto of_sample = static_cast<std::int32_t>(work.units.size());
    const std::int64_t units = std::int64_t{samples} * of_sample;
    const std::vector<std::int64_t> costs = costs_of(work);
    Grid grid(static_cast<int>(std::min<std::int64_t>(blocks, (units + of_block - 1) / of_block)), of_block);
    std::vector<std::vector<std::int32_t>> teams(grid.teams());
    // A sample's units cost what another's do, so equals of all samples stand together.
    const std::vector<std::int32_t> order = longest_first(costs);
    for (auto begin = order.begin(); begin != order.end();) {
        const std::int64_t cost = costs[at(*begin)];
        const auto end = std::find_if(begin, order.end(), [&](auto unit) { return costs[at(unit)] != cost; });
        for (std::int32_t sample = 0; sample < samples; ++sample) {
            for (auto unit = begin; unit != end; ++unit) {
                teams[grid.give(cost)].push_back(sample * of_sample + *unit);
            }
        }
        begin = end;
    }
    return flatten(std::move(teams));
}

}  // namespace bigbird::attention::cuda
