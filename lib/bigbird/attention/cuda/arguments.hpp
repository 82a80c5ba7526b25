// SPDX-License-Identifier: Apache-2.0
// What the CUDA attention kernels are given: plain data, no LibTorch. Host and device read the same structs.
#pragma once

#include <cstdint>

namespace bigbird::attention::cuda {

/// Tokens of a tile: the unit in which kernels load, multiply and skip.
inline constexpr int tile_tokens = 64;

/// How tokens fall into tiles. Blocks of at least tile_tokens are cut into tiles of their own, the last of
/// which may be short; smaller blocks share a tile, as many as fit.
struct Tiling {
    std::int32_t length = 0, block = 0;  ///< tokens
    std::int32_t tiles = 0;
    std::int32_t span = 0;  ///< tokens of `tiles_per_span` tiles
    std::int32_t tiles_per_span = 1;
    std::int32_t blocks_per_tile = 1;  ///< more than 1: blocks smaller than half a tile
};

/// A tile of the other side that a unit goes through. bias[i]: place of its blocks_per_tile^2 biases (query
/// block by key block) in the bias table for the unit's i-th tile, -1 where that tile does not attend it.
/// place: 128 * its first token + its tokens.
struct Entry {
    std::int32_t tile = 0, bias[2] = {-1, -1}, place = 0;
};
inline constexpr int place_factor = 128;

/// What one thread block computes: one or two tiles of a head against a list of entries. slot -1: the list is
/// whole and the result is written; else it is a part of a longer list and goes to the workspace.
struct Unit {
    std::int32_t head = 0, tile[2] = {-1, -1}, first = 0, count = 0, slot[2] = {-1, -1}, reserved = 0;
};

/// A tile whose list was cut: the parts are in slots first .. first + count - 1.
struct Sum {
    std::int32_t head = 0, tile = 0, first = 0, count = 0;
};

/// Units of all heads, head by head, long lists first. What stands behind `slots` is for KernelSet::hopper
/// alone: TeamLists (team_lists.hpp) of all samples' units.
struct UnitList {
    const Unit* units = nullptr;
    const Entry* entries = nullptr;
    const Sum* sums = nullptr;
    std::int32_t unit_count = 0, sum_count = 0, slots = 0, team_count = 0;
    const std::int32_t *team_first = nullptr, *team_units = nullptr;
};
/// Teams of a thread block of a persistent grid: of query units and of key units.
inline constexpr int query_teams = 2, key_teams = 3;

/// A (samples, heads, length, head_dim) tensor of 16-bit numbers: last dimension contiguous, strides in
/// elements, positive and multiples of 8, data aligned to 16 bytes.
struct TensorView {
    void* data = nullptr;
    std::int64_t sample_stride = 0, head_stride = 0, row_stride = 0;
};

enum class Element : std::int32_t { bf16, fp16 };

/// Which kernels: any of compute capability 8.0 and up (mma.sync), or those of 9.0 alone (wgmma).
enum class KernelSet : std::int32_t { general, hopper };

/// What the backward pass computes: all of dq, dk and dv, dq alone, or dk and dv alone.
enum class Gradients : std::int32_t { all, of_queries, of_keys };

struct Arguments {
    Element element = Element::bf16;
    KernelSet kernels = KernelSet::general;
    std::int32_t samples = 0, heads = 0, head_dim = 0;
    std::int32_t zero_padded_queries = 1;  ///< as in transformers' block-sparse attention
    Tiling tiling;
    const std::uint8_t* key_mask = nullptr;  ///< (samples, length), 0 = padding
    const float* biases = nullptr;           ///< log2 of multiplicities, -infinity where not attended
    UnitList queries;                        ///< units of query tiles: forward and dq
    UnitList keys;                           ///< units of key tiles: dk and dv
    TensorView q, k, v, out;
    float* lse = nullptr;          ///< (samples, heads, tiles, tile_tokens): log2 of the sum of the weights
    float* workspace = nullptr;    ///< workspace_floats(), aligned to 16 bytes
    TensorView d_out, dq, dk, dv;  ///< backward only
    float* delta = nullptr;        ///< like lse; backward only
    Gradients gradients = Gradients::all;
};

}  // namespace bigbird::attention::cuda
