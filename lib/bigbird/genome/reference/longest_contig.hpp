// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bigbird::genome {

/// Bases that no contig exceeds. Coordinates of files are compared with it, so that sums of a few do not
/// overflow.
inline constexpr std::int64_t longest_contig = std::int64_t{1} << 40;

}  // namespace bigbird::genome
