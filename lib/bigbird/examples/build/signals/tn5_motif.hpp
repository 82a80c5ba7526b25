// SPDX-License-Identifier: Apache-2.0
// Made by scripts/checks/make_tn5_motif.py.
#pragma once

#include <array>
#include <cstdint>

namespace bigbird::examples {

/// The letters that Tn5 prefers around the 5' ends of unshifted reads of ATAC-seq of yeast (SRR1822137, six
/// chromosomes): log2 of the shares of A, C, G and T over the background's. Row i is tn5_first + i bases from
/// the 5' end, in the direction of the read. The rows are symmetric around base 4, the middle of the nine
/// that Tn5 duplicates.
inline constexpr std::int64_t tn5_first = -6;
inline constexpr std::array<std::array<double, 4>, 22> tn5_motif{{
    {-0.28, 0.11, 0.05, 0.13},  {-0.04, -0.12, 0.49, -0.32}, {-0.11, 0.36, 0.10, -0.28},
    {0.14, -0.24, 0.16, -0.12}, {-0.32, 0.67, -0.21, -0.19}, {0.27, -0.46, -0.10, 0.05},
    {-0.24, 0.25, 0.79, -0.97}, {-0.37, 0.13, -0.24, 0.33},  {-0.15, 0.18, -0.14, 0.10},
    {-0.59, 0.41, -0.44, 0.36}, {0.30, -0.55, -0.53, 0.27},  {0.35, -0.44, 0.41, -0.56},
    {0.12, -0.15, 0.22, -0.19}, {0.32, -0.19, 0.14, -0.37},  {-0.66, 0.67, 0.17, -0.21},
    {-0.04, 0.06, -0.24, 0.14}, {-0.17, -0.15, 0.61, -0.29}, {-0.14, 0.17, -0.10, 0.07},
    {-0.31, 0.14, 0.39, -0.14}, {-0.33, 0.50, -0.04, -0.11}, {0.09, 0.12, 0.13, -0.29},
    {0.10, 0.01, 0.04, -0.14},
}};

}  // namespace bigbird::examples
