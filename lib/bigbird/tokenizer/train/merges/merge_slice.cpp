// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/merge_slice.hpp"

#include <algorithm>
#include <unordered_map>

namespace bigbird::tokenizer {

void SymbolCounts::clear() {
    for (const Symbol symbol : met)
        of[symbol] = 0;
    met.clear();
}

void NeighbourCounts::add(const NeighbourCounts& other) {
    left.add(other.left);
    right.add(other.right);
    merged_twice += other.merged_twice;
    merged_twice_kept += other.merged_twice_kept;
}

void NeighbourCounts::clear() {
    left.clear();
    right.clear();
    merged_twice = merged_twice_kept = 0;
}

std::uint64_t MergeSlice::count(const PositionList& positions, Symbol left, Symbol right) const {
    const std::size_t width = widths_[left];
    std::uint64_t found = 0;
    positions.for_each(positions_, width, [&](std::uint64_t position) {
        found += positions_[position] == left && positions_[position + width] == right;
    });
    return found;
}

// A listed position has `left` only while that symbol is unmerged: a symbol that covers it later begins
// elsewhere or is longer. So two comparisons distinguish existing occurrences from former ones.
void MergeSlice::merge(const PositionList& positions, const MergeRule& rule, NeighbourCounts& counts) {
    const std::size_t left_width = widths_[rule.left], width = widths_[rule.merged];
    RunFilter run(counting_);
    remembered_.clear();
    positions.for_each(positions_, width, [&](std::uint64_t position) {
        Symbol* const here = positions_ + position;
        if (here[0] != rule.left || here[left_width] != rule.right) return;
        here[left_width - 1] = here[left_width] = hole;
        here[0] = here[width - 1] = rule.merged;
        const Symbol before = here[-1], behind = here[width];
        remembered_.push_back({position, before, behind});
        if (before == rule.merged) {
            ++counts.merged_twice;
            counts.merged_twice_kept += run.keep(position - width, width);
        } else if (before != TokenArray::separator) {
            counts.left.add(before);
        }
        if (behind != TokenArray::separator) counts.right.add(behind);
    });
}

void MergeSlice::list_neighbours(const MergeRule& rule, const NewLists& lists) const {
    const std::size_t width = widths_[rule.merged];
    RunFilter run(counting_);
    for (std::size_t i = 0; i < remembered_.size(); ++i) {
        const auto [position, before, behind] = remembered_[i];
        if (before == rule.merged) {
            if (lists.merged_twice != nullptr && run.keep(position - width, width))
                lists.merged_twice->push_back(position - width);
        } else if (before != TokenArray::separator && lists.left[before] != nullptr) {
            lists.left[before]->push_back(position - widths_[before]);
        }
        // `behind` is not a neighbor if it was merged as well.
        const bool next_merges = i + 1 < remembered_.size() && remembered_[i + 1].before == rule.merged;
        if (!next_merges && behind != TokenArray::separator && lists.right[behind] != nullptr)
            lists.right[behind]->push_back(position);
    }
}

// A first pass counts into hashed buckets, so that only pairs which may reach the threshold cost memory.
std::vector<CountedPair> count_pairs(std::span<const MergeSlice> slices, ThreadTeam& team,
                                     std::uint64_t threshold,
                                     const std::function<bool(Symbol, Symbol)>& accept) {
    constexpr std::size_t buckets = std::size_t{1} << 20;
    const auto key_of = [](Symbol left, Symbol right) { return std::uint32_t{left} << 16 | right; };
    const auto bucket_of = [](std::uint32_t key) { return (key * 0x9E3779B97F4A7C15ULL) >> 44; };
    std::vector<std::vector<std::uint64_t>> hashed(slices.size());
    team.run([&](std::size_t i) {
        hashed[i].assign(buckets, 0);
        slices[i].for_each_counted(
            [&](Symbol left, Symbol right, std::uint64_t) { ++hashed[i][bucket_of(key_of(left, right))]; });
    });
    for (std::size_t i = 1; i < slices.size(); ++i)
        for (std::size_t bucket = 0; bucket < buckets; ++bucket)
            hashed[0][bucket] += hashed[i][bucket];
    std::vector<std::unordered_map<std::uint32_t, std::uint64_t>> counts(slices.size());
    team.run([&](std::size_t i) {
        slices[i].for_each_counted([&](Symbol left, Symbol right, std::uint64_t) {
            const std::uint32_t key = key_of(left, right);
            if (hashed[0][bucket_of(key)] >= threshold) ++counts[i][key];
        });
    });
    for (std::size_t i = 1; i < slices.size(); ++i)
        for (const auto& [key, count] : counts[i])
            counts[0][key] += count;
    std::vector<CountedPair> pairs;
    for (const auto& [key, count] : counts[0]) {
        const CountedPair pair{static_cast<Symbol>(key >> 16), static_cast<Symbol>(key), count};
        if (count >= threshold && accept(pair.left, pair.right)) pairs.push_back(pair);
    }
    std::ranges::sort(pairs, {}, &CountedPair::age);
    return pairs;
}

}  // namespace bigbird::tokenizer
