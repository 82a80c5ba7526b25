// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird {

/// Part `number`, from 1, of `count` parts of a job.
struct Shard {
    std::int64_t number = 1, count = 1;
    bool operator==(const Shard&) const = default;
};

/// Parses "2/4". Throws ConfigError naming --shard for other text, or a number outside 1 to the count.
Shard parse_shard(std::string_view text);
std::string to_string(const Shard& shard);

// How a job is cut into parts. The items, in order, form segments of one size, about 128 or more per part.
// Part I of N takes the segments I - 1, I - 1 + N, I - 1 + 2 N, … So all parts get some of the expensive
// regions, and a part still reads stretches rather than single items.

/// Numbers the segments of items that come one after another: 0, 1, 2 … Not thread-safe.
class SegmentCounter {
public:
    static constexpr std::int64_t segments_per_part = 128;

    /// `total`: of items, or of their weights; an estimate is enough if all parts use the same.
    SegmentCounter(std::int64_t total, const Shard& shard);

    /// The segment of the next item, which weighs `weight`. With `as_before` it stays in the segment of the
    /// item before it.
    std::int64_t next(bool as_before = false, std::int64_t weight = 1);
    /// Whether this part takes the segment.
    bool is_mine(std::int64_t segment) const { return segment % shard_.count == shard_.number - 1; }

private:
    Shard shard_;
    std::int64_t size_;  ///< size that ends a segment
    std::int64_t in_segment_ = 0;
    std::int64_t segment_ = 0;
};

}  // namespace bigbird
