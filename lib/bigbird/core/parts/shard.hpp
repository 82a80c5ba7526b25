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

}  // namespace bigbird
