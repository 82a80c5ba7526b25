// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/merges/merge_shard.hpp"
#include "bigbird/tokenizer/train/storage/shard_team.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// Counts the pairs of neighbours and returns those with at least `threshold` occurrences for which accept()
/// is true, by their younger symbol, then by their left and right one. A team member for each shard.
std::vector<CountedPair> count_pairs(std::span<const MergeShard> shards, ShardTeam& team,
                                     std::uint64_t threshold, OverlapCounting counting,
                                     const std::vector<std::uint16_t>& widths,
                                     const std::function<bool(Symbol, Symbol)>& accept);

}  // namespace bigbird::tokenizer
