// SPDX-License-Identifier: Apache-2.0
// What forecasts of rows and of variants share: evenly spaced runs of adjacent rows are tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird {

inline constexpr std::int64_t trial_runs = 64, rows_per_run = 64;

/// A permutation of 0 .. count - 1 whose every prefix is spread over the range.
std::vector<std::size_t> spread_order(std::size_t count);
/// Peak memory of this process in bytes.
std::int64_t most_memory();

}  // namespace bigbird
