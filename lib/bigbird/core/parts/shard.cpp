// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/shard.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"

#include <algorithm>

namespace bigbird {

Shard parse_shard(std::string_view text) {
    constexpr std::int64_t most = 100'000;
    const std::string given = "--shard " + std::string(text);
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto number = parse_number<std::int64_t>(text.substr(0, slash));
    const auto count = parse_number<std::int64_t>(text.substr(std::min(slash + 1, text.size())));
    if (!number || !count) throw ConfigError(given + ": must be I/N, such as 2/4: the second of four parts");
    if (*count < 1 || *count > most)
        throw ConfigError(given + ": the number of parts must lie between 1 and " + std::to_string(most));
    if (*number < 1 || *number > *count)
        throw ConfigError(given + ": there are parts 1 to " + std::to_string(*count));
    return {*number, *count};
}

std::string to_string(const Shard& shard) {
    return std::to_string(shard.number) + "/" + std::to_string(shard.count);
}

SegmentCounter::SegmentCounter(std::int64_t total, const Shard& shard)
    : shard_(shard), size_(std::max<std::int64_t>(1, total / (shard.count * segments_per_part))) {}

std::int64_t SegmentCounter::next(bool as_before, std::int64_t weight) {
    if (!as_before && in_segment_ >= size_) {
        ++segment_;
        in_segment_ = 0;
    }
    in_segment_ += weight;
    return segment_;
}

}  // namespace bigbird
