// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cuda/host/schedule.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

namespace bigbird::attention::cuda {

namespace {

/// A tile of the other side (key or query) that is attended, with its index in the bias table.
struct Link {
    std::int32_t tile = 0, bias = -1, place = 0;
};
using LinkList = std::vector<Link>;  // tiles ascend

/// Collects each matrix of biases once.
class BiasTable {
public:
    std::int32_t place(const std::vector<float>& biases) {
        const auto [found, is_new] = places_.try_emplace(biases, static_cast<std::int32_t>(places_.size()));
        if (is_new) values_.insert(values_.end(), biases.begin(), biases.end());
        return found->second;
    }
    std::vector<float> take() { return std::move(values_); }

private:
    std::map<std::vector<float>, std::int32_t> places_;
    std::vector<float> values_;
};

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

std::int32_t place_of(const Tiling& tiling, int tile) {
    return first_token_of(tiling, tile) * place_factor + count_tokens(tiling, tile);
}

/// The tiles that make up a block, or the tile that contains it.
std::pair<int, int> tiles_of_block(const Tiling& tiling, int block) {
    if (tiling.block >= tile_tokens)
        return {block * tiling.tiles_per_span, (block + 1) * tiling.tiles_per_span};
    return {block / tiling.blocks_per_tile, block / tiling.blocks_per_tile + 1};
}

/// For each query tile of a head, the key tiles that it attends.
std::vector<LinkList> tile_lists(const BlockLayout& layout, const Tiling& tiling, BiasTable& table) {
    const int side = tiling.blocks_per_tile;
    std::vector<std::map<int, std::vector<float>>> found(at(tiling.tiles));  // key tile -> biases
    for (int row = 0; row < layout.rows(); ++row) {
        for (const std::size_t i : layout.entries(row)) {
            const int column = layout.columns[i];
            const auto bias = std::log2(static_cast<float>(layout.multiplicity[i]));
            const auto [first_query, last_query] = tiles_of_block(tiling, row);
            const auto [first_key, last_key] = tiles_of_block(tiling, column);
            for (int query = first_query; query < last_query; ++query) {
                for (int key = first_key; key < last_key; ++key) {
                    auto& biases = found[at(query)][key];
                    biases.resize(at(std::int64_t{side} * side), -std::numeric_limits<float>::infinity());
                    biases[at((row % side) * side + column % side)] = bias;
                }
            }
        }
    }
    std::vector<LinkList> lists(at(tiling.tiles));
    for (std::size_t tile = 0; tile < lists.size(); ++tile)
        for (const auto& [key, biases] : found[tile])
            lists[tile].push_back({key, table.place(biases), place_of(tiling, key)});
    return lists;
}

std::vector<LinkList> transposed(const std::vector<LinkList>& lists, const Tiling& tiling) {
    std::vector<LinkList> result(lists.size());
    for (std::size_t tile = 0; tile < lists.size(); ++tile) {
        for (const Link& link : lists[tile]) {
            const auto query = static_cast<std::int32_t>(tile);
            result[at(link.tile)].push_back({query, link.bias, place_of(tiling, query)});
        }
    }
    return result;
}

int choose_longest(const std::vector<std::vector<LinkList>>& heads) {
    std::vector<std::size_t> lengths;
    for (const auto& lists : heads)
        for (const LinkList& list : lists)
            lengths.push_back(list.size());
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return std::max(16, 2 * static_cast<int>(*middle));
}

/// The union of two lists. First come the tiles that both attend, then alternately tiles of one list, so that
/// both sides stay busy.
std::vector<Entry> merge(const LinkList& a, const LinkList& b) {
    std::vector<Entry> both;
    std::vector<Entry> alone[2];
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        if (j == b.size() || (i < a.size() && a[i].tile < b[j].tile)) {
            alone[0].push_back({a[i].tile, {a[i].bias, -1}, a[i].place});
            ++i;
        } else if (i == a.size() || b[j].tile < a[i].tile) {
            alone[1].push_back({b[j].tile, {-1, b[j].bias}, b[j].place});
            ++j;
        } else {
            both.push_back({a[i].tile, {a[i].bias, b[j].bias}, a[i].place});
            ++i;
            ++j;
        }
    }
    for (std::size_t k = 0; k < std::max(alone[0].size(), alone[1].size()); ++k) {
        for (const auto& side : alone)
            if (k < side.size()) both.push_back(side[k]);
    }
    return both;
}

/// Adds the units of one or two tiles (second -1: one), divided into parts of at most `longest` entries.
void add_units(WorkList& work, int head, int first, int second, const std::vector<Entry>& entries,
               int longest) {
    const int count = static_cast<int>(entries.size());
    const int parts = std::max(1, (count + longest - 1) / longest);
    const bool is_cut = parts > 1;
    const int slot[2] = {work.slots, work.slots + parts};
    const int tiles[2] = {first, second};
    for (int side = 0; is_cut && side < 2; ++side) {
        if (tiles[side] >= 0) {
            work.sums.push_back({head, tiles[side], work.slots, parts});
            work.slots += parts;
        }
    }
    const auto first_entry = static_cast<std::int32_t>(work.entries.size());
    work.entries.insert(work.entries.end(), entries.begin(), entries.end());
    for (int part = 0; part < parts; ++part) {
        const int begin = part * count / parts, end = (part + 1) * count / parts;
        Unit unit{head, {first, second}, first_entry + begin, end - begin, {-1, -1}, 0};
        for (int side = 0; is_cut && side < 2; ++side)
            unit.slot[side] = tiles[side] >= 0 ? slot[side] + part : -1;
        work.units.push_back(unit);
    }
}

/// Adds units of `together` tiles, one or two; the last may have one.
void add_tiles(WorkList& work, int head, const std::vector<LinkList>& lists, const std::vector<int>& tiles,
               std::size_t together, int longest) {
    for (std::size_t i = 0; i < tiles.size(); i += together) {
        const bool paired = together == 2 && i + 1 < tiles.size();
        const int first = tiles[i], second = paired ? tiles[i + 1] : -1;
        const LinkList other = paired ? lists[at(second)] : LinkList{};
        add_units(work, head, first, second, merge(lists[at(first)], other), longest);
    }
}

/// Adds a head's units, long ones first. If `pairs`, adjacent tiles share a unit. The long rows also share
/// units, because they mostly attend the same tiles. The union of two short lists may be longer than
/// `longest`; it is not divided for that.
void add_head(WorkList& work, int head, const std::vector<LinkList>& lists, bool pairs, int longest) {
    const std::size_t first_unit = work.units.size();
    std::vector<int> is_long, others;
    for (int tile = 0; tile < static_cast<int>(lists.size()); ++tile)
        (pairs && static_cast<int>(lists[at(tile)].size()) > longest ? is_long : others).push_back(tile);
    add_tiles(work, head, lists, is_long, 2, longest);
    add_tiles(work, head, lists, others, pairs ? 2 : 1, pairs ? 2 * longest : longest);
    std::ranges::stable_sort(std::span(work.units).subspan(first_unit), std::greater(), &Unit::count);
}

}  // namespace

Tiling make_tiling(int blocks, int block_size) {
    BIGBIRD_EXPECTS(blocks > 0 && block_size > 0, "a layout has blocks");
    Tiling tiling;
    tiling.length = blocks * block_size;
    tiling.block = block_size;
    tiling.blocks_per_tile = std::max(1, tile_tokens / block_size);
    tiling.span = tiling.blocks_per_tile * block_size;
    tiling.tiles_per_span = (tiling.span + tile_tokens - 1) / tile_tokens;
    const int spans = (blocks + tiling.blocks_per_tile - 1) / tiling.blocks_per_tile;
    tiling.tiles = spans * tiling.tiles_per_span;
    return tiling;
}

Schedule make_schedule(const std::vector<BlockLayout>& heads, int block_size, int longest) {
    BIGBIRD_EXPECTS(!heads.empty(), "a layer has at least one head");
    Schedule schedule;
    schedule.heads = static_cast<std::int32_t>(heads.size());
    schedule.tiling = make_tiling(heads.front().rows(), block_size);
    BiasTable table;
    std::vector<std::vector<LinkList>> by_query, by_key;
    for (const BlockLayout& layout : heads) {
        BIGBIRD_EXPECTS(layout.rows() == heads.front().rows(), "heads differ in their number of blocks");
        if (!layout.masks.empty())
            throw ConfigError("the CUDA kernels attend whole blocks: choose blocked for patterns of tokens");
        by_query.push_back(tile_lists(layout, schedule.tiling, table));
        by_key.push_back(transposed(by_query.back(), schedule.tiling));
    }
    const int query_longest = longest > 0 ? longest : choose_longest(by_query);
    const int key_longest = longest > 0 ? longest : choose_longest(by_key);
    for (std::size_t head = 0; head < heads.size(); ++head) {
        add_head(schedule.queries, static_cast<int>(head), by_query[head], true, query_longest);
        add_head(schedule.keys, static_cast<int>(head), by_key[head], false, key_longest);
    }
    schedule.biases = table.take();
    return schedule;
}

std::size_t forward_workspace(const Schedule& schedule, int samples, int head_dim) {
    return at(samples) * at(schedule.queries.slots) * tile_tokens * at(head_dim + 1);
}

std::size_t backward_workspace(const Schedule& schedule, int samples, int head_dim) {
    return at(samples) * at(schedule.queries.slots + 2 * schedule.keys.slots) * tile_tokens * at(head_dim);
}

namespace {

/// The work assigned to each team, and the choice of the team for the next unit.
class Grid {
public:
    Grid(int blocks, int of_block) : of_block_(of_block), team_work_(at(std::int64_t{blocks} * of_block)) {
        for (int block = 0; block < blocks; ++block)
            blocks_.emplace(0, block);
    }
    /// Assigns a unit of this cost, and returns its team.
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
    using WorkOfBlock = std::pair<std::int64_t, int>;  // least work first, then lowest block
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
    std::vector<std::int64_t> costs;  // of the units of a sample, in products
    for (const Unit& unit : work.units)
        costs.push_back(products_of(work, unit) + products_around_unit);
    Grid grid(static_cast<int>(std::min<std::int64_t>(blocks, (units + of_block - 1) / of_block)), of_block);
    std::vector<std::vector<std::int32_t>> teams(grid.teams());
    // All samples have the same costs, so units of equal cost from all samples are adjacent.
    std::vector<std::int32_t> order(costs.size());  // by descending cost
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](std::int32_t unit) { return costs[at(unit)]; });
    for (auto begin = order.begin(); begin != order.end();) {
        const std::int64_t cost = costs[at(*begin)];
        const auto end = std::find_if(begin, order.end(), [&](auto unit) { return costs[at(unit)] != cost; });
        for (std::int32_t sample = 0; sample < samples; ++sample)
            for (auto unit = begin; unit != end; ++unit)
                teams[grid.give(cost)].push_back(sample * of_sample + *unit);
        begin = end;
    }
    return flatten(std::move(teams));
}

}  // namespace bigbird::attention::cuda
