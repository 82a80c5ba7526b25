// SPDX-License-Identifier: Apache-2.0
// Products of four warps together (wgmma, compute capability 9.0a), heads of size 64. A SharedTile<64> that
// begins at a multiple of 1024 bytes has the layout of wgmma's 128-byte swizzling. A warp's share of a sum
// has the layout of mma.m16n8k16: 16 rows from row 16 * warp on, in 8 accumulators.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"
#include "bigbird/attention/cuda/kernels.hpp"

#include <cstdint>

namespace bigbird::attention::cuda {

// The contents of a tensor map (PTX: the description from which the copy engine of compute capability 9.0
// finds a tile). Made on the host; the driver packs it for a device, the emulation reads it as it is.

/// Heads of size 64: a row of a tile is 128 bytes, as wide as the swizzle.
inline constexpr int warpgroup_head_dim = 64;

/// Dimensions, fastest first: head_dim, tokens, heads, samples. A copy reads a box of `box` elements;
/// elements beyond the end of a dimension become 0. In shared memory the 16-byte chunks of rows are swizzled
/// by 128 bytes. This is the layout of a SharedTile<64> that begins at a multiple of 1024 bytes.
struct TileMapShape {
    static constexpr int rank = 4;
    void* data = nullptr;                  ///< aligned to 16 bytes
    std::uint64_t sizes[rank] = {};        ///< elements of 2 bytes
    std::uint64_t strides[rank - 1] = {};  ///< bytes, of all dimensions but the first
    std::uint32_t box[rank] = {};          ///< elements
};

inline TileMapShape tile_map_shape(const TensorView& view, const Arguments& a) {
    const auto bytes = [](std::int64_t stride) { return static_cast<std::uint64_t>(stride) * 2; };
    return {view.data,
            {warpgroup_head_dim, static_cast<std::uint64_t>(a.tiling.length),
             static_cast<std::uint64_t>(a.heads), static_cast<std::uint64_t>(a.samples)},
            {bytes(view.row_stride), bytes(view.head_stride), bytes(view.sample_stride)},
            {warpgroup_head_dim, tile_tokens, 1, 1}};
}

/// Parameters of Hopper's kernels: maps besides the arguments of all kernels. `Map` is the driver's packed
/// form, or TileMapShape in the emulation.
template <typename Map>
struct WarpgroupArguments {
    Arguments a;
    Map q, k, v, d_out;              // d_out: backward only
    std::uint64_t* waits = nullptr;  // a report's words (wait_report.hpp), or null
};

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
/// Offsets in a descriptor to the next 16 columns, and to the next 16 rows.
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

/// Issues sum += a b, a in registers (16 columns per fragment), over the rows of a tile.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void issue_by_tile(const Isa& isa, Accumulator (&sum)[8], const Fragment (&a)[4],
                                  const WarpgroupTile& b) {
    const std::uint64_t second = isa.describe(b.data);
    BIGBIRD_UNROLL
    for (std::uint64_t step = 0; step < 4; ++step)
        isa.template warpgroup_multiply<Scalar, true>(sum, a[step], second + step * next_rows, true);
}

/// Converts 64 columns of accumulators to fragments of a product's first operand.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void as_operands(const Isa& isa, const Accumulator (&values)[8], Fragment (&operands)[4]) {
    BIGBIRD_UNROLL
    for (int step = 0; step < 4; ++step)
        operands[step] = as_operand<Scalar>(isa, values[2 * step], values[2 * step + 1]);
}

// The weights of a pair of tiles and the gradients of their scores, by products of four warps: the start of
// each step of dq, and of dk and dv. Between the two products weights are kept as 16-bit numbers. Two blocks
// of two groups (three of one, for dk and dv) can then share a multiprocessor's registers: while one group
// computes exponentials, the others multiply.

/// weights = 2^(a b^T / sqrt(64) * log2 e + bias), in type Kept and in the register order of first operands.
/// For element i of accumulator n, adds element_bias(n, i) unless `is_plain`, and always shift(n, i).
template <typename Scalar, typename Kept, DeviceIsa Isa, typename ElementBias, typename Shift>
BIGBIRD_DEVICE void multiply_to_weights(const Isa& isa, const WarpgroupTile& a, const WarpgroupTile& b,
                                        bool is_plain, Fragment (&weights)[4],
                                        const ElementBias& element_bias, const Shift& shift) {
    Accumulator scores[8];
    isa.warpgroup_fence(scores);
    issue_rows_by_rows<Scalar>(isa, scores, a, b);
    isa.warpgroup_commit();
    isa.warpgroup_wait(scores);
    constexpr float factor = scale_of<warpgroup_head_dim>() * log2_e;
    if (!is_plain) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 32; ++j)
            scores[j / 4].x[j % 4] += element_bias(j / 4, j % 4) / factor;
    }
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        float& score = scores[j / 4].x[j % 4];
        score = isa.exp2(score * factor + shift(j / 4, j % 4));
    }
    as_operands<Kept>(isa, scores, weights);
}

/// d_scores = weights (a b^T - delta), in the register order of first operands.
template <typename Scalar, typename Kept, DeviceIsa Isa, typename Delta>
BIGBIRD_DEVICE void multiply_to_score_gradients(const Isa& isa, const WarpgroupTile& a,
                                                const WarpgroupTile& b, const Fragment (&weights)[4],
                                                Fragment (&d_scores)[4], const Delta& delta) {
    Accumulator d_weights[8];
    isa.warpgroup_fence(d_weights);
    issue_rows_by_rows<Scalar>(isa, d_weights, a, b);
    isa.warpgroup_commit();
    isa.warpgroup_wait(d_weights);
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        const int n = j / 4, i = j % 4;
        const std::uint32_t pair = weights[n / 2].x[2 * (n % 2) + i / 2];
        const float weight =
            isa.template widen<Kept>(static_cast<std::uint16_t>(i % 2 == 0 ? pair : pair >> 16));
        d_weights[n].x[i] = weight * (d_weights[n].x[i] - delta(n, i));
    }
    as_operands<Scalar>(isa, d_weights, d_scores);
}

}  // namespace bigbird::attention::cuda
