// SPDX-License-Identifier: Apache-2.0
// Products of four warps together (wgmma, compute capability 9.0a), heads of size 64. A SharedTile<64> that
// begins at a multiple of 1024 bytes lies as wgmma's swizzling by 128 bytes wants it. A warp's share of a sum
// lies as that of mma.m16n8k16: 16 rows, 16 times the warp's number on, in 8 accumulators.
#pragma once

#include "bigbird/attention/cuda/device/hopper/tile_map.hpp"
#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

inline constexpr int warpgroup_threads = 128, warpgroup_warps = 4;
/// A barrier in shared memory (PTX: mbarrier), 8 bytes.
using Barrier = std::uint64_t;
using WarpgroupTile = SharedTile<warpgroup_head_dim>;

/// The first of a warp's 16 rows of its group's tile.
template <DeviceIsa Isa>
BIGBIRD_DEVICE int row_of(const Isa& isa) {
    return isa.thread() % warpgroup_threads / warp_lanes * 16;
}

/// The matrix descriptor of a WarpgroupTile at an address in shared memory: groups of 8 rows follow each
/// other at 1024 bytes, along the rows of an operand and, transposed, along k alike.
BIGBIRD_DEVICE constexpr std::uint64_t tile_descriptor(std::uint32_t address) {
    constexpr std::uint64_t warpgroup_bytes = 1024, swizzle_128 = 1;
    return (address >> 4 & 0x3FFF) | (warpgroup_bytes >> 4) << 16 | (warpgroup_bytes >> 4) << 32 |
           swizzle_128 << 62;
}
/// In a descriptor: 16 columns on, and 16 rows on.
inline constexpr std::uint64_t next_columns = 32 >> 4, next_rows = 2048 >> 4;

/// Issues sum = a b^T over the columns of two tiles.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void issue_rows_by_rows(const Isa& isa, Accumulator (&sum)[8], const WarpgroupTile& a,
                                       const WarpgroupTile& b) {
    const std::uint64_t first = isa.describe(a.data), second = isa.describe(b.data);
    BIGBIRD_UNROLL
    for (std::uint64_t step = 0; step < 4; ++step) {
        isa.template warpgroup_multiply<Scalar, false>(sum, first + step * next_columns,
                                                       second + step * next_columns, step > 0);
    }
}

/// Issues sum += a b, a in registers (16 columns a fragment), over the rows of a tile.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void issue_by_tile(const Isa& isa, Accumulator (&sum)[8], const Fragment (&a)[4],
                                  const WarpgroupTile& b) {
    const std::uint64_t second = isa.describe(b.data);
    BIGBIRD_UNROLL
    for (std::uint64_t step = 0; step < 4; ++step) {
        isa.template warpgroup_multiply<Scalar, true>(sum, a[step], second + step * next_rows, true);
    }
}

/// 64 columns of accumulators as first operands.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void as_operands(const Isa& isa, const Accumulator (&values)[8], Fragment (&operands)[4]) {
    BIGBIRD_UNROLL
    for (int step = 0; step < 4; ++step) {
        operands[step] = as_operand<Scalar>(isa, values[2 * step], values[2 * step + 1]);
    }
}

}  // namespace bigbird::attention::cuda
