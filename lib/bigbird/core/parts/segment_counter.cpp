// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/segment_counter.hpp"

#include <algorithm>

namespace bigbird {

SegmentCounter::SegmentCounter(std::int64_t total, const Shard& shard)
    : shard_(shard),
      segments_by_weight_(static_cast<double>(shard.count * segments_a_part) /
                          static_cast<double>(std::max<std::int64_t>(1, total))) {}

std::int64_t SegmentCounter::next(bool as_before, std::int64_t weight) {
    const auto slot = static_cast<std::int64_t>(static_cast<double>(passed_) * segments_by_weight_);
    passed_ += weight;
    if (segment_ < 0 || (!as_before && slot != slot_)) {
        slot_ = slot;
        ++segment_;
    }
    return segment_;
}

}  // namespace bigbird
