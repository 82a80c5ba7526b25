// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/segment_counter.hpp"

#include <algorithm>

namespace bigbird {

SegmentCounter::SegmentCounter(std::int64_t total, const Shard& shard)
    : shard_(shard), size_(std::max<std::int64_t>(1, total / (shard.count * segments_a_part))) {}

std::int64_t SegmentCounter::next(bool as_before, std::int64_t weight) {
    if (!as_before && in_segment_ >= size_) {
        ++segment_;
        in_segment_ = 0;
    }
    in_segment_ += weight;
    return segment_;
}

}  // namespace bigbird
