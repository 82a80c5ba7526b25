// SPDX-License-Identifier: Apache-2.0
// The loops of splice_kernels.hpp, compiled for the instruction set of the including file
// (bins/cpu/vector.hpp).
#pragma once

#include "bigbird/bins/cpu/vector.hpp"
#include "bigbird/networks/splicing/cpu/fourier_impl.hpp"
#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

namespace bigbird::networks {

namespace {

using bins::all;
using bins::greater;
using bins::lanes;
using bins::lesser;
using bins::load;
using bins::store;
using bins::Vec;

/// Sums are held in registers for some rows and all 32 channels, or half of them where registers are four
/// lanes.
constexpr int vectors = lanes == 4 ? 4 : static_cast<int>(splice_channels) / lanes;
constexpr int rows_at_once = lanes == 16 ? 12 : 3;
/// Rows whose sums stay in the nearest cache while taps_at_once taps are added to all of them.
constexpr std::int64_t block_rows = 48, taps_at_once = 4;

template <int rows>
inline void add_taps(const SpliceFilter& filter, const float* x, std::int64_t first, std::int64_t end,
                     float* sums) {
    for (std::int64_t column = 0; column < splice_channels; column += vectors * lanes) {
        Vec sum[unsigned{rows}][unsigned{vectors}];
        for (int r = 0; r < rows; ++r)
            for (int v = 0; v < vectors; ++v)
                sum[r][v] = load(sums + r * splice_channels + column + v * lanes);
        for (std::int64_t t = first; t < end; ++t) {
            const float* weights = filter.weights + t * splice_channels * splice_channels + column;
            const float* from = x + t * filter.dilation * splice_channels;
#pragma GCC unroll 4
            for (std::int64_t i = 0; i < splice_channels; ++i, weights += splice_channels, ++from) {
                Vec weight[unsigned{vectors}];
                for (int v = 0; v < vectors; ++v)
                    weight[v] = load(weights + v * lanes);
                for (int r = 0; r < rows; ++r) {
                    const Vec factor = all(from[r * splice_channels]);
                    for (int v = 0; v < vectors; ++v)
                        sum[r][v] += factor * weight[v];
                }
            }
        }
        for (int r = 0; r < rows; ++r)
            for (int v = 0; v < vectors; ++v)
                store(sums + r * splice_channels + column + v * lanes, sum[r][v]);
    }
}

/// The sums of up to block_rows rows.
inline void sum_block(const SpliceFilter& filter, const float* x, std::int64_t count, float* sums) {
    for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t c = 0; c < splice_channels; c += lanes)
            store(sums + r * splice_channels + c, load(filter.bias + c));
    for (std::int64_t t = 0; t < filter.taps; t += taps_at_once) {
        const std::int64_t end = t + taps_at_once < filter.taps ? t + taps_at_once : filter.taps;
        std::int64_t r = 0;
        for (; r + rows_at_once <= count; r += rows_at_once)
            add_taps<rows_at_once>(filter, x + r * splice_channels, t, end, sums + r * splice_channels);
        for (; r < count; ++r)
            add_taps<1>(filter, x + r * splice_channels, t, end, sums + r * splice_channels);
    }
}

/// Calls finish(row, channel, sum).
template <typename Finish>
inline void convolve_rows(const SpliceFilter& filter, const float* x, std::int64_t count,
                          const Finish& finish) {
    alignas(64) float sums[block_rows * splice_channels];
    for (std::int64_t first = 0; first < count; first += block_rows) {
        const std::int64_t rows = count - first < block_rows ? count - first : block_rows;
        sum_block(filter, x + first * splice_channels, rows, sums);
        for (std::int64_t i = 0; i < rows * splice_channels; i += lanes)
            finish(first * splice_channels + i, load(sums + i));
    }
}

void convolve(const SpliceFilter& filter, const float* x, std::int64_t count, float slope, float* to) {
    convolve_rows(
        filter, x, count, [&](std::int64_t i, Vec sum) { store(to + i, activated(sum, slope)); });
}

void convolve_onto(const SpliceFilter& filter, const float* x, std::int64_t count, const float* base,
                   float* to) {
    convolve_rows(
        filter, x, count, [&](std::int64_t i, Vec sum) { store(to + i, load(base + i) + sum); });
}

void convolve_spectrum(const SpliceSpectrum& filter, const SpliceNorm* norm, const float* x,
                       std::int64_t count, float slope, const float* base, float* to, float* work) {
    const Blocks blocks{filter, norm, x, count};
    if (base == nullptr)
        convolve_blocks(blocks, work, [&](std::int64_t i, Vec sum) { store(to + i, activated(sum, slope)); });
    else
        convolve_blocks(blocks, work, [&](std::int64_t i, Vec sum) { store(to + i, load(base + i) + sum); });
}

void activate(const SpliceNorm& norm, const float* x, std::int64_t count, float* to) {
    for (std::int64_t c = 0; c < splice_channels; c += lanes) {
        const Vec scale = load(norm.scale + c), shift = load(norm.shift + c);
        for (std::int64_t r = c; r < count * splice_channels; r += splice_channels)
            store(to + r, activated(load(x + r) * scale + shift, norm.slope));
    }
}

constexpr SpliceKernels kernels_of_this_set{convolve, convolve_onto, convolve_spectrum, activate};

}  // namespace

}  // namespace bigbird::networks
