// SPDX-License-Identifier: Apache-2.0
// Tiles in shared memory and fragments in registers, for tensor cores of compute capability 8.0 and up
// (mma.sync.m16n8k16). All device code is written against a `DeviceIsa`: ptx_isa.cuh on a GPU, an
// emulated one in tests. Fragments have the register layout of the PTX manual (mma.m16n8k16, ldmatrix). With
// g = lane / 4 and t = lane % 4, an accumulator holds rows g and g + 8, columns 2t and 2t + 1.
#pragma once

#include "bigbird/attention/cuda/kernels.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define BIGBIRD_DEVICE __device__ __forceinline__
#define BIGBIRD_UNROLL _Pragma("unroll")
#else
#define BIGBIRD_DEVICE inline
#define BIGBIRD_UNROLL
#endif

namespace bigbird::attention::cuda {

inline constexpr int warp_lanes = 32, warps_per_block = 4, threads_per_block = warps_per_block * warp_lanes;

/// The declarations of a kernel for a Launcher, besides run(isa, parameters): threads per block, and the
/// number of blocks per multiprocessor that the registers must suffice for.
template <typename P, int Threads = threads_per_block, int Resident = 1>
struct KernelShape {
    using Parameters = P;
    static constexpr int threads = Threads, resident = Resident;
};

struct Bf16 {};
struct Fp16 {};

inline constexpr float log2_e = 1.4426950408889634F;
/// pattern.hpp's padding_bias, for scores in log2.
inline constexpr float padding_bias_log2 = -1e4F * log2_e;

/// Four registers of a 16 x 16 operand, or of two 16 x 8 ones.
struct Fragment {
    std::uint32_t x[4];
};
/// A lane's share of a 16 x 8 accumulator: rows g, g, g + 8, g + 8.
struct Accumulator {
    float x[4] = {0, 0, 0, 0};
};

/// The interface of device code: a thread's view of a GPU, or of its emulation. Tensor-core products take
/// fragments as described at the head of this file; copy16 copies to shared memory in the background until
/// wait_copies.
template <typename T>
concept DeviceIsa = requires(const T& isa, Accumulator& sum, const Fragment& fragment, void* to,
                             const void* from, float x) {
    { isa.thread() } -> std::same_as<int>;
    { isa.lane() } -> std::same_as<int>;
    { isa.block() } -> std::same_as<int>;
    { isa.blocks() } -> std::same_as<int>;
    { isa.shared() } -> std::same_as<std::byte*>;
    isa.sync_block();
    isa.sync_warp();
    { isa.shuffle_xor(x, 1) } -> std::same_as<float>;
    { isa.ballot(true) } -> std::same_as<std::uint32_t>;
    { isa.exp2(x) } -> std::same_as<float>;
    { isa.log2(x) } -> std::same_as<float>;
    isa.copy16(to, from, true);
    isa.commit_copies();
    isa.wait_copies();
    { isa.load_matrices(from) } -> std::same_as<Fragment>;
    { isa.load_matrices_transposed(from) } -> std::same_as<Fragment>;
};

/// Accumulators beside each other in a row of a head, and 16-wide steps along it.
template <int HeadDim>
inline constexpr std::size_t stacked = static_cast<std::size_t>(HeadDim) / 8;
template <int HeadDim>
inline constexpr std::size_t steps = static_cast<std::size_t>(HeadDim) / 16;

/// tile_tokens rows of HeadDim 16-bit numbers in shared memory. The order of the 16-byte chunks in a row
/// depends on the row. Neither ldmatrix nor row-wise copies then have bank conflicts.
template <int HeadDim>
struct SharedTile {
    static constexpr int chunks = HeadDim / 8;
    static constexpr int bytes = tile_tokens * HeadDim * 2;
    std::byte* data;

    BIGBIRD_DEVICE std::byte* chunk(int row, int column) const {
        const int twist = chunks >= 8 ? row & 7 : (row >> 1) & 3;
        return data + (row * chunks + (column ^ twist)) * 16;
    }
};

/// Rows of a head in global memory.
struct HeadRows {
    std::uint16_t* data;  // (length, head_dim)
    std::int64_t row_stride;
    BIGBIRD_DEVICE std::uint16_t* row(int token) const { return data + token * row_stride; }
};
BIGBIRD_DEVICE HeadRows rows_of(const TensorView& view, int sample, int head) {
    return {static_cast<std::uint16_t*>(view.data) + sample * view.sample_stride + head * view.head_stride,
            view.row_stride};
}

/// Starts copying the rows of a tile by all threads; rows that the tile lacks become 0.
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE void load_tile(const Isa& isa, const SharedTile<HeadDim>& to, const HeadRows& from, int first,
                              int count) {
    constexpr int chunks = SharedTile<HeadDim>::chunks;
    BIGBIRD_UNROLL
    for (int i = 0; i < tile_tokens * chunks / threads_per_block; ++i) {
        const int place = i * threads_per_block + isa.thread();
        const int row = place / chunks, column = place % chunks;
        const bool is_there = row < count;
        isa.copy16(to.chunk(row, column), from.row(first + (is_there ? row : 0)) + column * 8, is_there);
    }
}

/// Rows row .. row + 15, columns 16 step .. 16 step + 15 as the first operand (m x k).
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE Fragment first_operand(const Isa& isa, const SharedTile<HeadDim>& tile, int row, int step) {
    const int lane = isa.lane();
    return isa.load_matrices(tile.chunk(row + (lane & 15), 2 * step + (lane >> 4)));
}

/// Two stacks of 16 rows, all columns.
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE void load_rows(const Isa& isa, const SharedTile<HeadDim>& tile, int row,
                              Fragment (&rows)[2][steps<HeadDim>]) {
    BIGBIRD_UNROLL
    for (int stack = 0; stack < 2; ++stack) {
        BIGBIRD_UNROLL
        for (int step = 0; step < HeadDim / 16; ++step)
            rows[stack][step] = first_operand(isa, tile, row + 16 * stack, step);
    }
}

/// The tile's rows as columns of the second operand (n x k, k along the row): registers 0 and 1 for rows row
/// .. row + 7, 2 and 3 for the next 8.
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE Fragment second_operand(const Isa& isa, const SharedTile<HeadDim>& tile, int row, int step) {
    const int lane = isa.lane();
    return isa.load_matrices(tile.chunk(row + (lane & 7) + ((lane >> 4) << 3), 2 * step + ((lane >> 3) & 1)));
}

/// The tile's rows row .. row + 15 as k, its columns 16 step .. as n: registers 0 and 1 for columns 16 step
/// .. 16 step + 7, 2 and 3 for the next 8.
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE Fragment second_operand_transposed(const Isa& isa, const SharedTile<HeadDim>& tile, int row,
                                                  int step) {
    const int lane = isa.lane();
    return isa.load_matrices_transposed(tile.chunk(row + (lane & 15), 2 * step + (lane >> 4)));
}

/// Two neighboring accumulators, 16 columns, as a first operand.
template <typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE Fragment as_operand(const Isa& isa, const Accumulator& left, const Accumulator& right) {
    return {{isa.template pack<Scalar>(left.x[0], left.x[1]), isa.template pack<Scalar>(left.x[2], left.x[3]),
             isa.template pack<Scalar>(right.x[0], right.x[1]),
             isa.template pack<Scalar>(right.x[2], right.x[3])}};
}

/// A lane's bits of a tile's key mask: bit i of `even` and `odd` are tokens 2i and 2i + 1.
struct KeyBits {
    std::uint32_t even, odd;
    BIGBIRD_DEVICE bool is_real(int token) const {
        return (((token & 1) != 0 ? odd : even) >> (token >> 1) & 1U) != 0;
    }
    BIGBIRD_DEVICE bool all() const { return (even & odd) == 0xFFFFFFFFU; }
};

/// A lane's two tokens of the mask, loaded early; bits_of() is taken when they are needed.
struct KeyPair {
    bool even, odd;
};
template <DeviceIsa Isa>
BIGBIRD_DEVICE KeyPair load_key_pair(const Isa& isa, const Arguments& a, int sample, int first, int count) {
    const int place = 2 * isa.lane();
    const std::uint8_t* mask = a.key_mask + static_cast<std::int64_t>(sample) * a.tiling.length + first;
    return {place < count && mask[place] != 0, place + 1 < count && mask[place + 1] != 0};
}
template <DeviceIsa Isa>
BIGBIRD_DEVICE KeyBits bits_of(const Isa& isa, const KeyPair& pair) {
    return {isa.ballot(pair.even), isa.ballot(pair.odd)};
}

/// The bias that a step adds to the scores of a pair of tiles, in log2.
struct TileBias {
    const float* table;  // the entry's biases in the bias table
    float plain;         // its first bias, loaded before it is needed
    bool is_plain;       // the same for all pairs of tokens
    int count;           // real tokens of the key tile
    KeyBits keys;

    /// The bias of all pairs; of() is added to each where the bias is not plain.
    BIGBIRD_DEVICE float shared() const { return is_plain ? plain : 0.0F; }
    BIGBIRD_DEVICE float of(const Tiling& tiling, int query, int key) const {
        const int side = tiling.blocks_per_tile;
        const float bias =
            side == 1 ? plain : table[query / tiling.block % side * side + key / tiling.block % side];
        return key >= count ? -INFINITY : bias + (keys.is_real(key) ? 0.0F : padding_bias_log2);
    }
};

/// Biases at an index of the bias table.
BIGBIRD_DEVICE const float* biases_of(const Arguments& a, int place) {
    const int side = a.tiling.blocks_per_tile;
    return a.biases + static_cast<std::int64_t>(place) * side * side;
}

BIGBIRD_DEVICE TileBias bias_of(const Arguments& a, int place, int count, const KeyBits& keys) {
    const float* table = biases_of(a, place);
    return {table, table[0], a.tiling.blocks_per_tile == 1 && keys.all(), count, keys};
}

/// The element of a pair for a side, 0 or 1, without an index into registers.
BIGBIRD_DEVICE int of_side(const std::int32_t (&pair)[2], int side) {
    return side == 0 ? pair[0] : pair[1];
}

BIGBIRD_DEVICE int first_of(const Entry& entry) {
    return entry.place / place_factor;
}
BIGBIRD_DEVICE int count_of(const Entry& entry) {
    return entry.place % place_factor;
}

/// The i-th entry of a unit; after the last, an entry without tokens.
BIGBIRD_DEVICE Entry entry_of(const UnitList& list, const Unit& unit, int i) {
    return i < unit.count ? list.entries[unit.first + i] : Entry{};
}

/// The first token of one of a unit's query tiles and how many it has; none where the unit has one tile.
struct TokenRange {
    int first = 0, count = 0;
};
BIGBIRD_DEVICE TokenRange tokens_of_side(const Arguments& a, const Unit& unit, int side) {
    const int tile = of_side(unit.tile, side);
    return tile < 0 ? TokenRange{} : TokenRange{first_token_of(a.tiling, tile), count_tokens(a.tiling, tile)};
}

/// Where a unit's rows of lse and delta begin.
BIGBIRD_DEVICE std::int64_t row_place(const Arguments& a, int sample, int head, int tile) {
    return ((static_cast<std::int64_t>(sample) * a.heads + head) * a.tiling.tiles + tile) * tile_tokens;
}

/// 1 / sqrt(HeadDim).
template <int HeadDim>
BIGBIRD_DEVICE constexpr float scale_of() {
    return HeadDim == 32 ? 0.17677669529663687F : HeadDim == 64 ? 0.125F : 0.08838834764831845F;
}

template <int HeadDim>
BIGBIRD_DEVICE void scale_rows(Accumulator (&values)[stacked<HeadDim>], float factor) {
    BIGBIRD_UNROLL
    for (int i = 0; i < HeadDim / 2; ++i)
        values[i / 4].x[i % 4] *= factor;
}

/// How the sums over the parts of cut lists go over threads: eight columns per thread, `lanes` threads per
/// row, `blocks` thread blocks per tile.
template <int HeadDim>
struct SumGrid {
    static constexpr int lanes = HeadDim / 8, rows = threads_per_block / lanes, blocks = tile_tokens / rows;

    /// A thread block's number in a grid of items * blocks, and a thread's position in the tile.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE explicit SumGrid(const Isa& isa)
        : item(isa.block() / blocks),
          row(isa.block() % blocks * rows + isa.thread() / lanes),
          column(isa.thread() % lanes * 8) {}
    int item, row, column;
};

/// Writes the accumulators of 16 rows, as 16-bit numbers, through this warp's rows of a shared tile, so that
/// global memory is written in full lines. Rows from `count` on are left out.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void store_rows(const Isa& isa, const SharedTile<HeadDim>& through, int row,
                               const Accumulator (&values)[stacked<HeadDim>], const HeadRows& to, int first,
                               int count) {
    const int lane = isa.lane();
    BIGBIRD_UNROLL
    for (int n = 0; n < HeadDim / 8; ++n) {
        BIGBIRD_UNROLL
        for (int half = 0; half < 2; ++half) {
            std::byte* place = through.chunk(row + lane / 4 + 8 * half, n) + 4 * (lane % 4);
            *reinterpret_cast<std::uint32_t*>(place) =
                isa.template pack<Scalar>(values[n].x[2 * half], values[n].x[2 * half + 1]);
        }
    }
    isa.sync_warp();
    constexpr int chunks = SharedTile<HeadDim>::chunks;
    BIGBIRD_UNROLL
    for (int i = 0; i < 16 * chunks / warp_lanes; ++i) {
        const int place = i * warp_lanes + lane;
        const int of_tile = row + place / chunks, column = place % chunks;
        if (of_tile < count)
            isa.store16(to.row(first + of_tile) + column * 8, through.chunk(of_tile, column));
    }
    isa.sync_warp();
}

/// The same as floats, into a part's rows in the workspace: (tile_tokens, HeadDim).
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE void store_part(const Isa& isa, float* part, int row,
                               const Accumulator (&values)[stacked<HeadDim>]) {
    const int lane = isa.lane();
    BIGBIRD_UNROLL
    for (int n = 0; n < HeadDim / 8; ++n) {
        BIGBIRD_UNROLL
        for (int half = 0; half < 2; ++half) {
            float* place = part + (row + lane / 4 + 8 * half) * HeadDim + n * 8 + 2 * (lane % 4);
            place[0] = values[n].x[2 * half];
            place[1] = values[n].x[2 * half + 1];
        }
    }
}

// Moves a query unit's key tiles through two stages of shared memory: the next tile is copied while one is
// processed.

/// Calls begin() once the first keys, and earlier copies, have arrived, and step(bias, keys, values) for each
/// key tile that the queries of `side` attend. `Shared` has keys(stage) and values(stage). All threads of the
/// block call it.
template <int HeadDim, DeviceIsa Isa, typename Shared, typename Begin, typename Step>
BIGBIRD_DEVICE void walk_keys(const Isa& isa, const Arguments& a, const Shared& shared, const Unit& unit,
                              int sample, int side, const Begin& begin, const Step& step) {
    const HeadRows k = rows_of(a.k, sample, unit.head), v = rows_of(a.v, sample, unit.head);
    Entry entry = entry_of(a.queries, unit, 0), next = entry_of(a.queries, unit, 1);
    const auto load = [&](const Entry& of, int stage) {
        const int first = first_of(of), count = count_of(of);
        load_tile<HeadDim>(isa, shared.keys(stage), k, first, count);
        load_tile<HeadDim>(isa, shared.values(stage), v, first, count);
        isa.commit_copies();
        return load_key_pair(isa, a, sample, first, count);
    };
    KeyPair pair = load(entry, 0);
    const auto finish = [&] {  // all threads see all copies
        isa.wait_copies();
        isa.sync_block();
    };
    finish();
    begin();
    for (int i = 0; i < unit.count; ++i) {
        const int stage = i % 2, place = of_side(entry.bias, side);
        const TileBias bias = bias_of(a, place < 0 ? 0 : place, count_of(entry), bits_of(isa, pair));
        if (i + 1 < unit.count) {
            entry = next;
            pair = load(entry, 1 - stage);
            next = entry_of(a.queries, unit, i + 2);
        }
        if (place >= 0) step(bias, shared.keys(stage), shared.values(stage));
        finish();  // the next stage has been copied, and all threads have read this one
    }
}

}  // namespace bigbird::attention::cuda
