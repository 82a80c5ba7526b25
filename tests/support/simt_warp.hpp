// SPDX-License-Identifier: Apache-2.0
// The instructions in which the 32 lanes of an emulated warp meet, as the PTX manual defines them.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <array>
#include <cstring>

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
    for (std::size_t i = 0; i < warp_size; ++i) {
        values[i] = *warp[i]->value;
    }
    for (std::size_t i = 0; i < warp_size; ++i) {
        *warp[i]->value = values[i ^ static_cast<std::size_t>(warp[i]->mask)];
    }
}
inline void ballot(const Warp& warp) {
    std::uint32_t votes = 0;
    for (std::size_t i = 0; i < warp_size; ++i) {
        votes |= warp[i]->vote ? 1U << i : 0U;
    }
    for (const WarpOperands* lane : warp) {
        *lane->votes = votes;
    }
}
/// ldmatrix.x4: lanes 8m .. 8m + 7 hold the addresses of matrix m's rows; lane l gets elements 2 (l % 4)
/// and the next of row l / 4, or of that column.
inline bool load_matrices(const Warp& warp, bool transposed) {
    for (std::size_t m = 0; m < 4; ++m) {
        std::array<std::array<std::uint16_t, 8>, 8> matrix{};
        for (std::size_t row = 0; row < 8; ++row) {
            if (reinterpret_cast<std::uintptr_t>(warp[8 * m + row]->row) % 16 != 0) {
                return false;
            }
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
        for (std::size_t i = 0; i < 4; ++i) {
            b[2 * t + 8 * (i / 2) + i % 2][g] = half_of<Number>(warp[l]->b[i / 2], i % 2);
        }
    }
    for (std::size_t l = 0; l < warp_size; ++l) {
        const std::size_t g = l / 4, t = l % 4;
        for (std::size_t i = 0; i < 4; ++i) {
            double sum = warp[l]->sum->x[i];
            for (std::size_t k = 0; k < 16; ++k) {
                sum += a[g + 8 * (i / 2)][k] * b[k][2 * t + i % 2];
            }
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

}  // namespace bigbird::testing
