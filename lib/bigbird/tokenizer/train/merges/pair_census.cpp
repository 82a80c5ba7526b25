// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/pair_census.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t few_symbols = 512;
constexpr std::size_t buckets = std::size_t{1} << 20;
using Counts = std::unordered_map<std::uint32_t, std::uint64_t>;

std::uint32_t key_of(Symbol left, Symbol right) {
    return static_cast<std::uint32_t>(left) << 16 | right;
}
std::size_t bucket_of(std::uint32_t key) {
    return (key * 0x9E3779B97F4A7C15ULL) >> 44;
}

// Occurrences under the counting rule, in order: of a run of one symbol the first, third, … pair alone where
// they may not overlap.
template <typename Visit>
void for_each_counted(const MergeShard& shard, OverlapCounting counting,
                      const std::vector<std::uint16_t>& widths, Visit&& visit) {
    bool skip = false;
    std::uint64_t run_end = std::numeric_limits<std::uint64_t>::max();
    shard.for_each_pair([&](Symbol left, Symbol right, std::uint64_t position) {
        if (counting == OverlapCounting::alternate && left == right) {
            skip = position == run_end && !skip;
            run_end = position + widths[left];
            if (skip) {
                return;
            }
        }
        visit(left, right);
    });
}

// While there are few symbols, a table with a position for each pair serves.
std::vector<Counts> count_in_table(std::span<const MergeShard> shards, ShardTeam& team,
                                   OverlapCounting counting, const std::vector<std::uint16_t>& widths) {
    std::vector<Counts> counts(shards.size());
    const std::size_t symbols = widths.size();
    team.run([&](std::size_t i) {
        std::vector<std::uint64_t> table(symbols * symbols);
        for_each_counted(shards[i], counting, widths,
                         [&](Symbol left, Symbol right) { ++table[left * symbols + right]; });
        for (std::size_t pair = 0; pair < table.size(); ++pair) {
            if (table[pair] > 0) {
                counts[i][key_of(static_cast<Symbol>(pair / symbols), static_cast<Symbol>(pair % symbols))] =
                    table[pair];
            }
        }
    });
    return counts;
}

// A first pass counts into hashed buckets, so that only pairs which may reach the threshold cost memory.
std::vector<Counts> count_hashed(std::span<const MergeShard> shards, ShardTeam& team, std::uint64_t threshold,
                                 OverlapCounting counting, const std::vector<std::uint16_t>& widths) {
    std::vector<std::vector<std::uint64_t>> hashed(shards.size());
    team.run([&](std::size_t i) {
        hashed[i].assign(buckets, 0);
        for_each_counted(shards[i], counting, widths,
                         [&](Symbol left, Symbol right) { ++hashed[i][bucket_of(key_of(left, right))]; });
    });
    for (std::size_t i = 1; i < shards.size(); ++i) {
        for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
            hashed[0][bucket] += hashed[i][bucket];
        }
    }
    std::vector<Counts> counts(shards.size());
    team.run([&](std::size_t i) {
        for_each_counted(shards[i], counting, widths, [&](Symbol left, Symbol right) {
            const std::uint32_t key = key_of(left, right);
            if (hashed[0][bucket_of(key)] >= threshold) {
                ++counts[i][key];
            }
        });
    });
    return counts;
}

}  // namespace

std::vector<CountedPair> count_pairs(std::span<const MergeShard> shards, ShardTeam& team,
                                     std::uint64_t threshold, OverlapCounting counting,
                                     const std::vector<std::uint16_t>& widths,
                                     const std::function<bool(Symbol, Symbol)>& accept) {
    std::vector<Counts> counts = widths.size() <= few_symbols
                                     ? count_in_table(shards, team, counting, widths)
                                     : count_hashed(shards, team, threshold, counting, widths);
    for (std::size_t i = 1; i < shards.size(); ++i) {
        for (const auto& [key, count] : counts[i]) {
            counts[0][key] += count;
        }
    }
    std::vector<CountedPair> pairs;
    for (const auto& [key, count] : counts[0]) {
        const CountedPair pair{static_cast<Symbol>(key >> 16), static_cast<Symbol>(key), count};
        if (count >= threshold && accept(pair.left, pair.right)) {
            pairs.push_back(pair);
        }
    }
    const auto rank = [](const CountedPair& pair) {
        return std::tuple(std::max(pair.left, pair.right), pair.left, pair.right);
    };
    std::sort(pairs.begin(), pairs.end(),
              [&](const CountedPair& a, const CountedPair& b) { return rank(a) < rank(b); });
    return pairs;
}

}  // namespace bigbird::tokenizer
