// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bigbird::genome {

/// Maximum length of a contig. Coordinates in files are checked against it, so that sums of a few of them do
/// not overflow.
inline constexpr std::int64_t longest_contig = std::int64_t{1} << 40;

}  // namespace bigbird::genome
