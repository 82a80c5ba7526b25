// SPDX-License-Identifier: Apache-2.0
// The loops of a later stage, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/bins/cpu/vector.hpp"

namespace bigbird::bins {

namespace {

constexpr std::int64_t most_tiles = 40, block_positions = most_tiles * tile;  // of a block
constexpr std::int64_t halo = taps / 2, block_rows = block_positions + 2 * halo;

/// A matrix whose element (i, k) is at data[i * row + k * column].
struct Strided {
    const float* data;
    std::int64_t row, column;
};

constexpr int gemm_rows = lanes == 16 ? 8 : 4, gemm_columns = 2 * lanes;

/// c (m, n) = a (m, k) b (k, n), or c + that if `adds`; m a multiple of gemm_rows, n of gemm_columns; b and c
/// have rows of n.
template <bool adds>
void multiply(const Strided& a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k) {
    for (std::int64_t column = 0; column < n; column += gemm_columns) {
        for (std::int64_t row = 0; row < m; row += gemm_rows) {
            Vec sum[gemm_rows][2];
            float* const to = c + row * n + column;
            for (int i = 0; i < gemm_rows; ++i)
                for (int v = 0; v < 2; ++v)
                    sum[i][v] = adds ? load(to + i * n + v * lanes) : Vec{};
            const float* const left = a.data + row * a.row;
            for (std::int64_t j = 0; j < k; ++j) {
                const float* const right = b + j * n + column;
                const Vec right0 = load(right), right1 = load(right + lanes);
                for (int i = 0; i < gemm_rows; ++i) {
                    const Vec factor = all(left[i * a.row + j * a.column]);
                    sum[i][0] += factor * right0;
                    sum[i][1] += factor * right1;
                }
            }
            for (int i = 0; i < gemm_rows; ++i)
                for (int v = 0; v < 2; ++v)
                    store(to + i * n + v * lanes, sum[i][v]);
        }
    }
}

/// Eight rows at the points: B^T x.
inline void to_points(const Vec* x, Vec* at) {
    const Vec even1 = x[2] + x[6] - 4.25F * x[4], odd1 = x[1] + x[5] - 4.25F * x[3];
    const Vec even2 = 0.25F * x[2] + x[6] - 1.25F * x[4], odd2 = 0.5F * x[1] + 2.0F * x[5] - 2.5F * x[3];
    const Vec even3 = 4.0F * x[2] + x[6] - 5.0F * x[4], odd3 = 2.0F * x[1] + 0.5F * x[5] - 2.5F * x[3];
    at[0] = x[0] - x[6] + 5.25F * (x[4] - x[2]);
    at[1] = even1 + odd1;
    at[2] = even1 - odd1;
    at[3] = even2 + odd2;
    at[4] = even2 - odd2;
    at[5] = even3 + odd3;
    at[6] = even3 - odd3;
    at[7] = x[7] - x[1] + 5.25F * (x[3] - x[5]);
}

/// Four outputs from the points: A^T at.
inline void from_points(const Vec* at, Vec* y) {
    const Vec sum1 = at[1] + at[2], difference1 = at[1] - at[2], sum2 = at[3] + at[4],
              difference2 = at[3] - at[4], sum3 = at[5] + at[6], difference3 = at[5] - at[6];
    y[0] = at[0] + sum1 + sum2 + 8.0F * sum3;
    y[1] = difference1 + 2.0F * difference2 + 4.0F * difference3;
    y[2] = sum1 + 4.0F * sum2 + 2.0F * sum3;
    y[3] = at[7] + difference1 + 8.0F * difference2 + difference3;
}

/// The transpose of from_points(): A dy.
inline void outputs_to_points(const Vec* dy, Vec* at) {
    const Vec even1 = dy[0] + dy[2], odd1 = dy[1] + dy[3];
    const Vec even2 = dy[0] + 4.0F * dy[2], odd2 = 2.0F * dy[1] + 8.0F * dy[3];
    const Vec even3 = 8.0F * dy[0] + 2.0F * dy[2], odd3 = 4.0F * dy[1] + dy[3];
    at[0] = dy[0];
    at[1] = even1 + odd1;
    at[2] = even1 - odd1;
    at[3] = even2 + odd2;
    at[4] = even2 - odd2;
    at[5] = even3 + odd3;
    at[6] = even3 - odd3;
    at[7] = dy[3];
}

/// (points, tiles, channels) from rows (…, channels): for each tile `rows` rows, from every fourth row on.
template <int rows, typename Transform>
void tiles_to_points(const float* from, std::int64_t tiles, std::int64_t channels, const Transform& transform,
                     float* to) {
    for (std::int64_t t = 0; t < tiles; ++t) {
        for (std::int64_t c = 0; c < channels; c += lanes) {
            Vec x[points], at[points];
            for (int i = 0; i < rows; ++i)
                x[i] = load(from + (t * tile + i) * channels + c);
            transform(x, at);
            for (std::int64_t p = 0; p < points; ++p)
                store(to + (p * tiles + t) * channels + c, at[p]);
        }
    }
}

/// (tiles x tile, channels) from (points, tiles, channels).
void tiles_from_points(const float* from, std::int64_t tiles, std::int64_t channels, float* to) {
    for (std::int64_t t = 0; t < tiles; ++t) {
        for (std::int64_t c = 0; c < channels; c += lanes) {
            Vec at[points], y[tile];
            for (std::int64_t p = 0; p < points; ++p)
                at[p] = load(from + (p * tiles + t) * channels + c);
            from_points(at, y);
            for (std::int64_t i = 0; i < tile; ++i)
                store(to + (t * tile + i) * channels + c, y[i]);
        }
    }
}

/// (tiles x tile, out) of rows (tiles x tile + 2 halo, in), by filters (points, in, out). at_in, at_out:
/// scratch, (points, tiles, in) and (points, tiles, out).
void convolve(const float* rows, std::int64_t tiles, const float* filters, std::int64_t in, std::int64_t out,
              float* at_in, float* at_out, float* to) {
    tiles_to_points<points>(rows, tiles, in, to_points, at_in);
    for (std::int64_t p = 0; p < points; ++p) {
        multiply<false>({at_in + p * tiles * in, in, 1}, filters + p * in * out, at_out + p * tiles * out,
                        tiles, out, in);
    }
    tiles_from_points(at_out, tiles, out, to);
}

inline float sum_of(Vec x) {
    float sum = 0;
    for (int i = 0; i < lanes; ++i)
        sum += x[i];
    return sum;
}

/// (x - mean) * scale is x with mean 0 and variance 1.
struct Moments {
    float mean, scale;
};
inline Moments moments_of(const float* x, std::int64_t size, float epsilon) {
    Vec sum{}, squares{};
    for (std::int64_t c = 0; c < size; c += lanes)
        sum += load(x + c);
    const float mean = sum_of(sum) / static_cast<float>(size);
    for (std::int64_t c = 0; c < size; c += lanes) {
        const Vec apart = load(x + c) - mean;
        squares += apart * apart;
    }
    return {mean, 1.0F / __builtin_sqrtf(sum_of(squares) / static_cast<float>(size) + epsilon)};
}

inline void fill(float* to, std::int64_t count, float value) {
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = value;
}

inline std::int64_t block_end(const ConvolutionShape& shape, std::int64_t first) {
    return first + block_positions < shape.length ? first + block_positions : shape.length;
}

/// Tiles of a block, which may reach beyond the window: multiply() takes gemm_rows at a time.
inline std::int64_t tiles_of(const ConvolutionShape& shape, std::int64_t first) {
    constexpr std::int64_t step = gemm_rows * tile;
    return (block_end(shape, first) - first + step - 1) / step * gemm_rows;
}

/// The rows of a block and of its halo, 0 beyond the window: n, and gelu of it.
void normed_rows(const ConvolutionShape& shape, const ConvolutionWeights& weights, const float* x,
                 std::int64_t first, float* normed, float* active) {
    const std::int64_t rows = tiles_of(shape, first) * tile + 2 * halo;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t position = first - halo + r;
        float *const n = normed + r * shape.in, *const a = active + r * shape.in;
        if (position < 0 || position >= shape.length) {
            fill(n, shape.in, 0);
            fill(a, shape.in, 0);
            continue;
        }
        const float* const row = x + position * shape.in;
        const Moments moments = moments_of(row, shape.in, shape.epsilon);
        for (std::int64_t c = 0; c < shape.in; c += lanes) {
            const Vec value = (load(row + c) - moments.mean) * moments.scale * load(weights.norm + c) +
                              load(weights.norm_bias + c);
            store(n + c, value);
            store(a + c, value * gelu_gate(value));
        }
    }
}

/// The parts of scratch memory.
struct Scratch {
    float *normed, *rows, *at_in, *at_out, *results;

    Scratch(const ConvolutionShape& shape, float* memory) {
        const std::int64_t most = shape.in > shape.out ? shape.in : shape.out;
        normed = memory;
        rows = normed + block_rows * most;
        at_in = rows + block_rows * most;
        at_out = at_in + points * most_tiles * most;
        results = at_out + points * most_tiles * most;
    }
    static std::int64_t size(const ConvolutionShape& shape) {
        const std::int64_t most = shape.in > shape.out ? shape.in : shape.out;
        return (2 * block_rows + 2 * points * most_tiles + block_positions) * most;
    }
};

std::int64_t convolution_scratch(const ConvolutionShape& shape) {
    return Scratch::size(shape);
}

void forward_convolution(const ConvolutionShape& shape, const ConvolutionWeights& weights, const float* x,
                         std::int64_t first, float* memory, float* y) {
    const Scratch scratch(shape, memory);
    normed_rows(shape, weights, x, first, scratch.normed, scratch.rows);
    convolve(scratch.rows, tiles_of(shape, first), weights.filters, shape.in, shape.out, scratch.at_in,
             scratch.at_out, scratch.results);
    const bool adds = shape.in == shape.out;
    for (std::int64_t position = first; position < block_end(shape, first); ++position) {
        const std::int64_t r = position - first;
        for (std::int64_t c = 0; c < shape.out; c += lanes) {
            Vec value = load(scratch.results + r * shape.out + c) + load(weights.bias + c);
            if (adds) value += load(scratch.normed + (r + halo) * shape.in + c);
            store(y + position * shape.out + c, value);
        }
    }
}

/// The rows of dy of a block and of its halo, 0 beyond the window; adds the block's rows to d_bias.
void gradient_rows(const ConvolutionShape& shape, const float* dy, std::int64_t first, float* rows,
                   float* d_bias) {
    const std::int64_t all = tiles_of(shape, first) * tile + 2 * halo;
    for (std::int64_t r = 0; r < all; ++r) {
        const std::int64_t position = first - halo + r;
        float* const to = rows + r * shape.out;
        if (position < 0 || position >= shape.length) {
            fill(to, shape.out, 0);
            continue;
        }
        const bool mine = r >= halo && r < halo + block_positions;
        for (std::int64_t c = 0; c < shape.out; c += lanes) {
            const Vec value = load(dy + position * shape.out + c);
            store(to + c, value);
            if (mine) store(d_bias + c, load(d_bias + c) + value);
        }
    }
}

/// dx of one row of x, from the gradient of n, which is in `dn`.
void norm_backward(const ConvolutionShape& shape, const float* norm, const float* x, const float* dn,
                   float* dx, const ConvolutionSums& sums) {
    const Moments moments = moments_of(x, shape.in, shape.epsilon);
    Vec sum{}, products{};
    for (std::int64_t c = 0; c < shape.in; c += lanes) {
        const Vec unit = (load(x + c) - moments.mean) * moments.scale, slope = load(dn + c),
                  part = slope * load(norm + c);
        store(sums.norm + c, load(sums.norm + c) + slope * unit);
        store(sums.norm_bias + c, load(sums.norm_bias + c) + slope);
        sum += part;
        products += part * unit;
    }
    const auto size = static_cast<float>(shape.in);
    const float mean = sum_of(sum) / size, along = sum_of(products) / size;
    for (std::int64_t c = 0; c < shape.in; c += lanes) {
        const Vec unit = (load(x + c) - moments.mean) * moments.scale;
        store(dx + c, (load(dn + c) * load(norm + c) - mean - unit * along) * moments.scale);
    }
}

void backward_convolution(const ConvolutionShape& shape, const ConvolutionWeights& weights, const float* x,
                          const float* dy, std::int64_t first, float* memory, float* dx,
                          const ConvolutionSums& sums) {
    const Scratch scratch(shape, memory);
    const std::int64_t in = shape.in, out = shape.out, tiles = tiles_of(shape, first);
    // Gradients of the filters: at each point, the gradient of the product there.
    normed_rows(shape, weights, x, first, scratch.normed, scratch.rows);
    tiles_to_points<points>(scratch.rows, tiles, in, to_points, scratch.at_in);
    float* const slopes = scratch.rows;
    gradient_rows(shape, dy, first, slopes, sums.bias);
    tiles_to_points<tile>(slopes + halo * out, tiles, out, outputs_to_points, scratch.at_out);
    for (std::int64_t p = 0; p < points; ++p) {
        multiply<true>({scratch.at_in + p * tiles * in, 1, in}, scratch.at_out + p * tiles * out,
                       sums.filters + p * in * out, in, out, tiles);
    }
    convolve(slopes, tiles, weights.turned, out, in, scratch.at_out, scratch.at_in, scratch.results);
    for (std::int64_t position = first; position < block_end(shape, first); ++position) {
        float* const dn = scratch.results + (position - first) * in;
        const float* const normed = scratch.normed + (position - first + halo) * in;
        for (std::int64_t c = 0; c < in; c += lanes) {
            const Vec n = load(normed + c);
            Vec slope = load(dn + c) * gelu_slope(n, gelu_gate(n));
            if (in == out) slope += load(slopes + (position - first + halo) * out + c);
            store(dn + c, slope);
        }
        norm_backward(shape, weights.norm, x + position * in, dn, dx + position * in, sums);
    }
}

}  // namespace

}  // namespace bigbird::bins
