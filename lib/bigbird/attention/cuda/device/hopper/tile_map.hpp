// SPDX-License-Identifier: Apache-2.0
// What a tensor map (PTX: the description from which the copy engine of compute capability 9.0 finds a tile)
// says of a tensor. Made on the host; the driver packs it for a device, the emulation reads it as it is.
#pragma once

#include "bigbird/attention/cuda/arguments.hpp"

#include <cstdint>

namespace bigbird::attention::cuda {

/// Heads of size 64: a row of a tile is 128 bytes, as wide as the swizzle.
inline constexpr int warpgroup_head_dim = 64;

/// Dimensions from the fastest on: head_dim, tokens, heads, samples. A copy takes a box of `box` elements;
/// those behind a dimension's end become 0. In shared memory the 16-byte chunks of rows are swizzled by 128
/// bytes, which is how a SharedTile<64> lies that begins at a multiple of 1024 bytes.
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

/// What Hopper's kernels are given: maps besides the arguments that all kernels have. `Map` is the driver's
/// packed form, or TileMapShape in the emulation.
template <typename Map>
struct WarpgroupArguments {
    Arguments a;
    Map q, k, v, d_out;              // d_out: backward only
    std::uint64_t* waits = nullptr;  // a report's words (wait_report.hpp), or null
};

}  // namespace bigbird::attention::cuda
