// SPDX-License-Identifier: Apache-2.0
// The instructions in which the 32 lanes of an emulated warp meet, as the PTX manual defines them.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <array>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bigbird::testing {

enum class WarpInstruction : std::uint8_t {
    none,
    sync,
    shuffle_xor,
    ballot,
    load_matrices,
    load_matrices_transposed,
    multiply_bf16,
    multiply_fp16
};

/// A lane's operands of the instruction in which its warp meets.
struct WarpOperands {
    WarpInstruction instruction = WarpInstruction::none;
    float* value = nullptr;  // shuffle_xor
    int mask = 0;
    bool vote = false;  // ballot
    std::uint32_t* votes = nullptr;
    const void* row = nullptr;  // load_matrices
    attention::cuda::Fragment* loaded = nullptr;
    attention::cuda::Accumulator* sum = nullptr;  // multiply
    const attention::cuda::Fragment* a = nullptr;
    std::array<std::uint32_t, 2> b{};
};

inline constexpr std::size_t warp_size = 32;
using Warp = std::array<WarpOperands*, warp_size>;

inline void shuffle_xor(const Warp& warp) {
    std::array<float, warp_size> values{};
    for (std::size_t i = 0; i < warp_size; ++i)
        values[i] = *warp[i]->value;
    for (std::size_t i = 0; i < warp_size; ++i)
        *warp[i]->value = values[i ^ static_cast<std::size_t>(warp[i]->mask)];
}
inline void ballot(const Warp& warp) {
    std::uint32_t votes = 0;
    for (std::size_t i = 0; i < warp_size; ++i)
        votes |= warp[i]->vote ? 1U << i : 0U;
    for (const WarpOperands* lane : warp)
        *lane->votes = votes;
}
/// ldmatrix.x4: lanes 8m .. 8m + 7 hold the addresses of matrix m's rows; lane l gets elements 2 (l % 4)
/// and the next of row l / 4, or of that column.
inline bool load_matrices(const Warp& warp, bool transposed) {
    for (std::size_t m = 0; m < 4; ++m) {
        std::array<std::array<std::uint16_t, 8>, 8> matrix{};
        for (std::size_t row = 0; row < 8; ++row) {
            if (reinterpret_cast<std::uintptr_t>(warp[8 * m + row]->row) % 16 != 0) return false;
            std::memcpy(matrix[row].data(), warp[8 * m + row]->row, 16);
        }
        for (std::size_t l = 0; l < warp_size; ++l) {
            const std::size_t i = l / 4, j = 2 * (l % 4);
            const std::uint32_t low = transposed ? matrix[j][i] : matrix[i][j];
            const std::uint32_t high = transposed ? matrix[j + 1][i] : matrix[i][j + 1];
            warp[l]->loaded->x[m] = low | high << 16;
        }
    }
    return true;
}

template <typename Number>
float half_of(std::uint32_t pair, std::size_t which) {
    const auto bits = static_cast<std::uint16_t>(which == 0 ? pair : pair >> 16);
    return static_cast<float>(Number(bits, Number::from_bits()));
}
/// mma.m16n8k16.row.col: lane l = 4 g + t holds a(g, 2t), a(g + 8, 2t), a(g, 2t + 8), a(g + 8, 2t + 8)
/// and their right neighbours; b(2t, g), b(2t + 8, g) and their lower ones; c(g, 2t), c(g + 8, 2t) and
/// their right ones.
template <typename Number>
void multiply(const Warp& warp) {
    std::array<std::array<double, 16>, 16> a{};
    std::array<std::array<double, 8>, 16> b{};
    for (std::size_t l = 0; l < warp_size; ++l) {
        const std::size_t g = l / 4, t = l % 4;
        for (std::size_t i = 0; i < 8; ++i) {
            a[g + 8 * (i / 2 % 2)][2 * t + 8 * (i / 4) + i % 2] =
                half_of<Number>(warp[l]->a->x[i / 2], i % 2);
        }
        for (std::size_t i = 0; i < 4; ++i)
            b[2 * t + 8 * (i / 2) + i % 2][g] = half_of<Number>(warp[l]->b[i / 2], i % 2);
    }
    for (std::size_t l = 0; l < warp_size; ++l) {
        const std::size_t g = l / 4, t = l % 4;
        for (std::size_t i = 0; i < 4; ++i) {
            double sum = warp[l]->sum->x[i];
            for (std::size_t k = 0; k < 16; ++k)
                sum += a[g + 8 * (i / 2)][k] * b[k][2 * t + i % 2];
            warp[l]->sum->x[i] = static_cast<float>(sum);
        }
    }
}

/// False where a row's address is misaligned.
inline bool execute_warp(WarpInstruction instruction, const Warp& warp) {
    switch (instruction) {
        case WarpInstruction::shuffle_xor:
            shuffle_xor(warp);
            break;
        case WarpInstruction::ballot:
            ballot(warp);
            break;
        case WarpInstruction::load_matrices:
            return load_matrices(warp, false);
        case WarpInstruction::load_matrices_transposed:
            return load_matrices(warp, true);
        case WarpInstruction::multiply_bf16:
            multiply<c10::BFloat16>(warp);
            break;
        case WarpInstruction::multiply_fp16:
            multiply<c10::Half>(warp);
            break;
        case WarpInstruction::sync:
        case WarpInstruction::none:
            break;
    }
    return true;
}

// wgmma for an emulated block: products of a group of four warps, queued when they are issued and done when
// they are waited for, so that a missing wait, or a tile written over too early, shows in the result.

/// A lane's operands of m64n64k16.
struct GroupOperands {
    attention::cuda::Accumulator* sum = nullptr;   // 8
    const attention::cuda::Fragment* a = nullptr;  // null: in shared memory
    std::uint64_t a_tile = 0, b_tile = 0;          // descriptors
    bool transposed_b = false, add = false, bf16 = false;
};

/// The queue of one warp group.
class SimtGroup {
public:
    static constexpr std::size_t lanes = 128;
    using Operands = std::array<GroupOperands, lanes>;

    void fence() { fenced_ = true; }
    /// False where nothing fenced the registers before.
    bool issue(const Operands& operands) {
        issued_.push_back(operands);
        return fenced_;
    }
    void commit() {
        committed_.push_back(std::move(issued_));
        issued_.clear();
    }
    void wait(const std::byte* shared) {
        for (; !committed_.empty(); committed_.pop_front()) {
            for (const Operands& operands : committed_.front()) {
                operands[0].bf16 ? multiply<c10::BFloat16>(shared, operands)
                                 : multiply<c10::Half>(shared, operands);
            }
        }
        fenced_ = false;
    }
    bool is_idle() const { return issued_.empty() && committed_.empty(); }

private:
    /// Element (row, k) of an operand in shared memory by its descriptor, as the PTX manual's section on
    /// wgmma's matrix descriptor says for swizzling by 128 bytes: rows of 64 elements, 8 to a group; along k
    /// (or, transposed, along the rows).
    template <typename Number>
    static float element(const std::byte* shared, std::uint64_t descriptor, bool transposed, std::size_t row,
                         std::size_t k) {
        const std::size_t start = (descriptor & 0x3FFF) << 4, lead = (descriptor >> 16 & 0x3FFF) << 4,
                          stride = (descriptor >> 32 & 0x3FFF) << 4;
        if (descriptor >> 62 != 1) throw std::runtime_error("only swizzling by 128 bytes is emulated");
        std::size_t place = transposed ? start + k / 8 * stride + k % 8 * 128 + row / 64 * lead + row % 64 * 2
                                       : start + row / 8 * stride + row % 8 * 128 + k * 2;
        place ^= (place >> 7 & 7) << 4;
        std::uint16_t bits = 0;
        std::memcpy(&bits, shared + place, 2);
        return half_of<Number>(bits, 0);
    }

    template <typename Number>
    static void multiply(const std::byte* shared, const Operands& operands) {
        std::array<std::array<double, 16>, 64> a{};
        std::array<std::array<double, 64>, 16> b{};
        for (std::size_t k = 0; k < 16; ++k) {
            for (std::size_t n = 0; n < 64; ++n) {
                b[k][n] = element<Number>(shared, operands[0].b_tile, operands[0].transposed_b, n, k);
                if (operands[0].a == nullptr)
                    a[n][k] = element<Number>(shared, operands[0].a_tile, false, n, k);
            }
        }
        for (std::size_t lane = 0; lane < lanes && operands[0].a != nullptr; ++lane) {
            const std::size_t g = lane % 32 / 4, t = lane % 4, first = lane / 32 * 16;
            for (std::size_t i = 0; i < 8; ++i) {
                a[first + g + 8 * (i / 2 % 2)][2 * t + 8 * (i / 4) + i % 2] =
                    half_of<Number>(operands[lane].a->x[i / 2], i % 2);
            }
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t g = lane % 32 / 4, t = lane % 4, first = lane / 32 * 16;
            for (std::size_t n = 0; n < 8; ++n) {
                for (std::size_t i = 0; i < 4; ++i) {
                    float& sum = operands[lane].sum[n].x[i];
                    double total = operands[lane].add ? sum : 0;
                    for (std::size_t k = 0; k < 16; ++k)
                        total += a[first + g + 8 * (i / 2)][k] * b[k][8 * n + 2 * t + i % 2];
                    sum = static_cast<float>(total);
                }
            }
        }
    }

    std::vector<Operands> issued_;
    std::deque<std::vector<Operands>> committed_;
    bool fenced_ = false;
};

}  // namespace bigbird::testing
