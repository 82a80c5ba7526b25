// SPDX-License-Identifier: Apache-2.0
// All kernels of this folder, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/networks/profiles/cpu/convolution_impl.hpp"

namespace bigbird::networks {

namespace {

// Cherimoya's layers.

void separate(const float* taps, std::int64_t row, const float* const* from, std::int64_t dilation,
              std::int64_t count, float* const* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        const float *const before = from[i - dilation], *const at = from[i],
                           *const behind = from[i + dilation];
        for (std::int64_t c = 0; c < row; c += lanes) {
            Vec sum = load(taps + c) * load(before + c);
            sum = multiply_add(load(taps + row + c), load(at + c), sum);
            store(to[i] + c, multiply_add(load(taps + 2 * row + c), load(behind + c), sum));
        }
    }
}

void moments(const float* const* rows, std::int64_t count, std::int64_t filters, float mean, double* sums) {
    Vec sum{}, squares{};
    float rest = 0, rest_squares = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t c = 0;
        for (; c + lanes <= filters; c += lanes) {
            const Vec apart = load(rows[i] + c) - mean;
            sum += apart;
            squares = multiply_add(apart, apart, squares);
        }
        for (; c < filters; ++c) {
            const float apart = rows[i][c] - mean;
            rest += apart;
            rest_squares += apart * apart;
        }
    }
    sums[0] += static_cast<double>(rest);
    sums[1] += static_cast<double>(rest_squares);
    for (int i = 0; i < lanes; ++i) {
        sums[0] += static_cast<double>(sum[i]);
        sums[1] += static_cast<double>(squares[i]);
    }
}

void feed_forward(const FeedForward& layer, std::int64_t row, const float* const* y, std::int64_t count,
                  float mean, float factor, float* const* x, float* scratch) {
    const std::int64_t inner = layer.first.out;
    const float *normed[most_rows], *active[most_rows];
    float *sums[most_rows], *results[most_rows];
    for (std::int64_t i = 0; i < count; ++i) {
        float* const to = scratch + i * row;
        for (std::int64_t c = 0; c < row; c += lanes)
            store(to + c, (load(y[i] + c) - mean) * factor);
        normed[i] = to;
        results[i] = scratch + (count + i) * row;
        active[i] = sums[i] = scratch + 2 * count * row + i * inner;
    }
    multiply(layer.first, normed, count, sums);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < inner; c += lanes)
            store(sums[i] + c, activated<Activation::gelu>(load(sums[i] + c)));
    multiply(layer.second, active, count, results);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < row; c += lanes)
            store(x[i] + c, multiply_add(all(layer.scale), load(results[i] + c), load(x[i] + c)));
}

// Heads.

void sum_rows(const float* const* rows, std::int64_t count, std::int64_t row, float* to) {
    for (std::int64_t c = 0; c < row; c += lanes) {
        Vec sum = load(rows[0] + c);
        for (std::int64_t i = 1; i < count; ++i)
            sum += load(rows[i] + c);
        store(to + c, sum);
    }
}

/// Rows whose numbers are equal modulo `lanes` are added in one array, so that no store crosses a load.
void sum_diagonals(const float* const* rows, std::int64_t offset, std::int64_t head, std::int64_t outputs,
                   float bias, float* scratch, float* to, std::int64_t stride) {
    const std::int64_t width = (head + lanes - 1) / lanes * lanes, all_rows = outputs + head - 1,
                       size = lanes + all_rows + width + lanes;
    for (std::int64_t i = 0; i < lanes * size; ++i)
        scratch[i] = 0;
    for (std::int64_t r = 0; r < all_rows; ++r) {
        float* const sum = scratch + r % lanes * size + lanes + r / lanes * lanes;
        for (std::int64_t k = 0; k < width; k += lanes)
            store(sum + k, load(sum + k) + load(rows[r] + offset + k));
    }
    for (std::int64_t i = 0; i < outputs; ++i) {
        float sum = bias;
        for (std::int64_t j = 0; j < lanes; ++j)
            sum += scratch[j * size + lanes + i + head - 1 - j];
        to[i * stride] = sum;
    }
}

constexpr ProfileKernels profile_kernels_of_this_set{
    .columns = tile_columns,
    .most_rows = most_rows,
    .stem = stem,
    .convolve = convolve,
    .multiply = multiply,
    .separate = separate,
    .moments = moments,
    .feed_forward = feed_forward,
    .sum_rows = sum_rows,
    .sum_diagonals = sum_diagonals,
};

}  // namespace

}  // namespace bigbird::networks
