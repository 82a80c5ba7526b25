// SPDX-License-Identifier: Apache-2.0
// Products of rows and packed weights, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/bins/cpu/vector.hpp"
#include "bigbird/networks/profiles/cpu/profile_kernels.hpp"

#include <cstddef>

namespace bigbird::networks {

namespace {

using bins::all;
using bins::greater;
using bins::lanes;
using bins::load;
using bins::store;
using bins::Vec;

/// Rows and columns whose sums are in registers at one time.
constexpr int tile_rows = lanes == 16 ? 12 : 6, tile_columns = 2 * lanes;
/// Inputs of one sum in registers; such sums are added in memory.
constexpr std::int64_t depth = 512;
constexpr std::int64_t most_rows = 96;

/// a b + sum with one rounding, where the processor has that.
inline Vec multiply_add(Vec a, Vec b, Vec sum) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, sum);
#elif defined(__AVX2__)
    return _mm256_fmadd_ps(a, b, sum);
#else
    return sum + a * b;
#endif
}

/// `count` inputs, from `first` on, of the rows, and of a panel of weights. The panel at `next` is fetched
/// meanwhile.
template <std::size_t rows>
void multiply_tile(const float* const* from, std::int64_t first, std::int64_t count, const float* weights,
                   const float* next, float* const* to, std::int64_t column) {
    Vec sum[rows][2] = {};
    const float* row[rows];
    for (std::size_t i = 0; i < rows; ++i)
        row[i] = from[i] + first;
    for (std::int64_t k = 0; k < count; ++k) {
        const Vec right0 = load(weights + k * tile_columns),
                  right1 = load(weights + k * tile_columns + lanes);
        __builtin_prefetch(next + k * tile_columns, 0, 2);
        for (std::size_t i = 0; i < rows; ++i) {
            const Vec factor = all(row[i][k]);
            sum[i][0] = multiply_add(factor, right0, sum[i][0]);
            sum[i][1] = multiply_add(factor, right1, sum[i][1]);
        }
    }
    for (std::size_t i = 0; i < rows; ++i) {
        for (int v = 0; v < 2; ++v) {
            float* const at = to[i] + column + v * lanes;
            store(at, first == 0 ? sum[i][v] : load(at) + sum[i][v]);
        }
    }
}

/// The same for fewer rows than a tile.
template <std::size_t rows>
void multiply_rest(const float* const* from, std::int64_t count, std::int64_t first, std::int64_t inputs,
                   const float* weights, const float* next, float* const* to, std::int64_t column) {
    if constexpr (rows > 0) {
        if (count == std::int64_t{rows})
            multiply_tile<rows>(from, first, inputs, weights, next, to, column);
        else
            multiply_rest<rows - 1>(from, count, first, inputs, weights, next, to, column);
    }
}

void multiply(const Product& product, const float* const* rows, std::int64_t count, float* const* to) {
    for (std::int64_t column = 0; column < product.out; column += tile_columns) {
        for (std::int64_t first = 0; first < product.in; first += depth) {
            const std::int64_t inputs = product.in - first < depth ? product.in - first : depth;
            const float* const weights = product.weights + column * product.in + first * tile_columns;
            const float* const next = weights + inputs * tile_columns;
            std::int64_t row = 0;
            for (; row + tile_rows <= count; row += tile_rows)
                multiply_tile<std::size_t{tile_rows}>(rows + row, first, inputs, weights, next, to + row,
                                                      column);
            multiply_rest<std::size_t{tile_rows - 1}>(rows + row, count - row, first, inputs, weights, next,
                                                      to + row, column);
        }
    }
}

}  // namespace

}  // namespace bigbird::networks
