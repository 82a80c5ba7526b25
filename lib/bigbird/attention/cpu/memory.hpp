// SPDX-License-Identifier: Apache-2.0
// What the kernels keep in memory: operands and scratch in padded blocks, and their way from and to tensors.
// Blocks and head_dim are zero-padded to full tiles.
#pragma once

#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/cpu/tiles.hpp"

#include <cmath>
#include <limits>

namespace {

using bigbird::attention::BlockLayout;
using bigbird::attention::FusedKernel;
using bigbird::attention::FusedProblem;
using bigbird::attention::FusedTensor;
using bigbird::attention::KeyRows;

constexpr float log2_e = 1.44269504088896341F, ln_2 = 0.69314718055994531F;
constexpr float infinity = std::numeric_limits<float>::infinity();
/// A row's reference maximum is raised only when a score is above it by more than this, in log2.
constexpr float slack = 8.0F;
constexpr float no_maximum = -1e30F;

constexpr std::int64_t round_up(std::int64_t x, std::int64_t step) {
    return (x + step - 1) / step * step;
}

/// Hands out aligned parts of a block of memory. Without a block, it only counts the bytes.
class Arena {
public:
    explicit Arena(std::byte* memory) : memory_(memory) {}
    template <typename T>
    T* take(std::int64_t count) {
        std::byte* const here = memory_ == nullptr ? nullptr : memory_ + used_;
        used_ += static_cast<std::size_t>(round_up(count * static_cast<std::int64_t>(sizeof(T)), 64));
        return reinterpret_cast<T*>(here);
    }
    std::size_t used() const { return used_; }

private:
    std::byte* memory_;
    std::size_t used_ = 0;
};

/// A problem's sizes, padded for a kind of tiles.
template <typename Tiles>
struct SizesOf {
    explicit SizesOf(const FusedProblem& p)
        : block(p.block),
          dim(p.head_dim),
          padded_block(round_up(p.block, Tiles::step)),
          padded_dim(round_up(p.head_dim, Tiles::step)),
          tile(padded_block * padded_dim),
          chunk(padded_block >= 128 ? 1 : 128 / padded_block),
          scale(log2_e / std::sqrt(static_cast<float>(p.head_dim))) {}
    std::int64_t block, dim, padded_block, padded_dim, tile;
    std::int64_t chunk;  ///< key blocks whose scores are computed before their softmax
    float scale;
};

/// A group's operands, all blocks of one kind after another.
template <typename Tiles>
struct PackedOf {
    using Element = typename Tiles::Element;
    using Sizes = SizesOf<Tiles>;
    PackedOf(const Sizes& s, std::int64_t blocks, bool backward, std::byte* memory) : tile(s.tile) {
        Arena arena(memory);
        const auto tiles = [&] { return arena.take<Element>(blocks * s.tile); };
        k_transposed = tiles();
        v = tiles();
        if (backward) {
            k = tiles();
            q = tiles();
            q_transposed = tiles();
            d_out = tiles();
            d_out_transposed = tiles();
            lse = arena.take<float>(blocks * s.padded_block);
            delta = arena.take<float>(blocks * s.padded_block);
        }
        bytes = arena.used();
    }
    Element* of(Element* kind, std::int64_t block) const { return kind + block * tile; }
    std::int64_t tile;
    Element *k_transposed = nullptr, *v = nullptr;  ///< right operands; v transposed in the backward pass
    Element *k = nullptr, *q = nullptr, *q_transposed = nullptr, *d_out = nullptr,
            *d_out_transposed = nullptr;
    float *lse = nullptr, *delta = nullptr;  ///< (blocks, padded_block)
    std::size_t bytes = 0;
};

/// Scratch of a thread for a query block, or for two blocks that are packed.
template <typename Tiles>
struct ForwardScratchOf {
    using Element = typename Tiles::Element;
    using Sizes = SizesOf<Tiles>;
    ForwardScratchOf(const Sizes& s, std::byte* memory) {
        Arena arena(memory);
        const std::int64_t width = s.chunk * s.padded_block;
        q = arena.take<Element>(s.tile);
        scores = arena.take<float>(s.padded_block * width);
        if constexpr (sizeof(Element) == sizeof(float))
            probabilities = reinterpret_cast<Element*>(scores);
        else
            probabilities = arena.take<Element>(s.padded_block * width);
        out = arena.take<float>(s.tile);
        bias = arena.take<float>(width);
        maximum = arena.take<float>(s.padded_block);
        sum = arena.take<float>(s.padded_block * Vec::lanes);
        bytes = arena.used();
    }
    Element *q, *probabilities;
    float *scores, *out, *bias, *maximum, *sum;
    std::size_t bytes;
};

/// Scratch of a thread for gradients, or for two blocks that are packed; sums of dk and dv of `blocks`
/// blocks.
template <typename Tiles>
struct BackwardScratchOf {
    using Element = typename Tiles::Element;
    using Sizes = SizesOf<Tiles>;
    BackwardScratchOf(const Sizes& s, std::int64_t blocks, std::byte* memory) {
        Arena arena(memory);
        const std::int64_t square = s.padded_block * s.padded_block;
        scores = arena.take<float>(square);
        d_probabilities = arena.take<float>(square);
        probabilities = arena.take<Element>(square);
        d_scores = arena.take<Element>(square);
        d_scores_right = arena.take<Element>(square);
        dq = arena.take<float>(s.tile);
        rows = arena.take<float>(s.tile);
        bias = arena.take<float>(s.padded_block);
        dk_transposed = arena.take<float>(blocks * s.tile);
        dv_transposed = arena.take<float>(blocks * s.tile);
        bytes = arena.used();
    }
    float *scores, *d_probabilities, *dq, *rows, *bias, *dk_transposed, *dv_transposed;
    Element *probabilities, *d_scores, *d_scores_right;
    std::size_t bytes;
};

inline std::int64_t offset(const FusedProblem& p, const FusedTensor& t, std::int64_t group,
                           std::int64_t row) {
    return (group / p.heads) * t.sample_stride + (group % p.heads) * t.head_stride +
           row * p.block * t.row_stride;
}

template <typename Element, typename Source, typename Sizes>
void copy_row(Element* to, const Source* from, const Sizes& s) {
    if constexpr (sizeof(Element) == sizeof(Source)) {
        std::memcpy(to, from, static_cast<std::size_t>(s.dim) * sizeof(Element));
    } else if constexpr (sizeof(Source) == 2) {
        for (std::int64_t i = 0; i < s.dim; ++i) {
            const std::uint32_t bits = std::uint32_t{from[i]} << 16;
            std::memcpy(to + i, &bits, sizeof bits);
        }
    }  // kernels of bfloat16 operands are given bfloat16 tensors only
    for (std::int64_t i = s.dim; i < s.padded_dim; ++i)
        to[i] = 0;
}

/// A block of a tensor as a plain operand, padded with zeros.
template <typename Tiles>
void load_block(const FusedProblem& p, const SizesOf<Tiles>& s, const FusedTensor& t, std::int64_t group,
                std::int64_t row, typename Tiles::Element* plain) {
    const std::int64_t begin = offset(p, t, group, row);
    for (std::int64_t r = 0; r < s.padded_block; ++r) {
        auto* const to = plain + r * s.padded_dim;
        if (r >= s.block) {
            std::memset(to, 0, static_cast<std::size_t>(s.padded_dim) * sizeof(*to));
            continue;
        }
        const std::int64_t from = begin + r * t.row_stride;
        if (p.bf16)
            copy_row(to, static_cast<const std::uint16_t*>(t.data) + from, s);
        else
            copy_row(to, static_cast<const float*>(t.data) + from, s);
    }
}

/// The opposite of load_block: rows (padded_block, padded_dim), times `factor`, into a tensor.
template <typename Tiles>
void store_block(const FusedProblem& p, const SizesOf<Tiles>& s, const FusedTensor& t, std::int64_t group,
                 std::int64_t row, float* rows, float factor) {
    const std::int64_t begin = offset(p, t, group, row);
    for (std::int64_t r = 0; r < s.block; ++r) {
        float* const from = rows + r * s.padded_dim;
        for (std::int64_t i = 0; i < s.padded_dim; i += Vec::lanes)
            Vec::store(from + i, Vec::mul(Vec::load(from + i), Vec::set(factor)));
        if (!p.bf16) {
            std::memcpy(static_cast<float*>(t.data) + begin + r * t.row_stride, from,
                        static_cast<std::size_t>(s.dim) * sizeof(float));
            continue;
        }
        alignas(64) std::uint16_t narrow[Vec::lanes];
        auto* const to = static_cast<std::uint16_t*>(t.data) + begin + r * t.row_stride;
        for (std::int64_t i = 0; i < s.dim; i += Vec::lanes) {
            Vec::store_bf16(narrow, Vec::load(from + i));
            const std::int64_t count = s.dim - i < Vec::lanes ? s.dim - i : Vec::lanes;
            std::memcpy(to + i, narrow, static_cast<std::size_t>(count) * 2);
        }
    }
}

}  // namespace
