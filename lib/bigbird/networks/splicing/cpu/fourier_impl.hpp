// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of spectra, compiled for the instruction set of the including file. A row has all
// channels of a position, so a transform over positions is the same arithmetic in each lane.
#pragma once

#include "bigbird/bins/cpu/vector.hpp"
#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

namespace bigbird::networks {

namespace {

/// A complex number of each lane.
struct Complex {
    bins::Vec re, im;
};

inline Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
}
inline Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
}
inline Complex times_i(Complex a) {
    return {-a.im, a.re};
}
/// a * w, or a * conj(w); w is a real and an imaginary number.
template <bool conjugate>
inline Complex times(Complex a, const float* w) {
    const bins::Vec re = bins::all(w[0]), im = bins::all(w[1]);
    return conjugate ? Complex{a.re * re + a.im * im, a.im * re - a.re * im}
                     : Complex{a.re * re - a.im * im, a.im * re + a.re * im};
}

constexpr std::int64_t complex_row = 2 * splice_channels;  // real parts of all channels, imaginary parts

/// One step of the transform: `length` points are split into four, j, j + length / 4, ...
inline void split_four(Complex* x, std::int64_t points, std::int64_t length, const float* twiddles) {
    const std::int64_t quarter = length / 4;
    for (std::int64_t first = 0; first < points; first += length) {
        const float* w = twiddles;
        for (Complex *a = x + first, *end = a + quarter; a != end; ++a, w += 6) {
            const Complex sum = a[0] + a[2 * quarter], difference = a[0] - a[2 * quarter];
            const Complex other_sum = a[quarter] + a[3 * quarter],
                          other_difference = times_i(a[quarter] - a[3 * quarter]);
            a[0] = sum + other_sum;
            a[quarter] = times<false>(difference - other_difference, w);
            a[2 * quarter] = times<false>(sum - other_sum, w + 2);
            a[3 * quarter] = times<false>(difference + other_difference, w + 4);
        }
    }
}

/// The inverse of split_four, times 4.
inline void join_four(Complex* x, std::int64_t points, std::int64_t length, const float* twiddles) {
    const std::int64_t quarter = length / 4;
    for (std::int64_t first = 0; first < points; first += length) {
        const float* w = twiddles;
        for (Complex *a = x + first, *end = a + quarter; a != end; ++a, w += 6) {
            const Complex second = times<true>(a[quarter], w), third = times<true>(a[2 * quarter], w + 2),
                          fourth = times<true>(a[3 * quarter], w + 4);
            const Complex sum = a[0] + third, difference = a[0] - third;
            const Complex other_sum = second + fourth, other_difference = times_i(second - fourth);
            a[0] = sum + other_sum;
            a[quarter] = difference + other_difference;
            a[2 * quarter] = sum - other_sum;
            a[3 * quarter] = difference - other_difference;
        }
    }
}

inline void add_and_subtract_neighbours(Complex* x, std::int64_t points) {
    for (std::int64_t i = 0; i < points; i += 2) {
        const Complex a = x[i], b = x[i + 1];
        x[i] = a + b;
        x[i + 1] = a - b;
    }
}

/// In the order of SpliceSpectrum.
inline void transform(Complex* x, const SpliceSpectrum& spectrum) {
    const float* twiddles = spectrum.twiddles;
    std::int64_t length = spectrum.points;
    for (; length >= 4; length /= 4) {
        split_four(x, spectrum.points, length, twiddles);
        twiddles += length / 4 * 6;
    }
    if (length == 2) add_and_subtract_neighbours(x, spectrum.points);
}

inline void transform_back(Complex* x, const SpliceSpectrum& spectrum) {
    std::int64_t length = 1;
    const float* twiddles = spectrum.twiddles;
    for (std::int64_t left = spectrum.points; left >= 4; left /= 4)
        twiddles += left / 4 * 6;
    while (length * 4 <= spectrum.points)
        length *= 4;
    if (length != spectrum.points) add_and_subtract_neighbours(x, spectrum.points);
    for (length = length == spectrum.points ? 4 : 8; length <= spectrum.points; length *= 4) {
        twiddles -= length / 4 * 6;
        join_four(x, spectrum.points, length, twiddles);
    }
}

/// rows[r] = rows[r] * weights, complex, for the rows of one frequency.
template <unsigned rows>
inline void multiply(const float* weights, float* x) {
    alignas(64) float products[rows * unsigned{complex_row}];
    for (std::int64_t column = 0; column < splice_channels; column += bins::lanes) {
        bins::Vec re[rows]{}, im[rows]{};
        const float* w = weights + column;
        for (std::int64_t i = 0; i < splice_channels; ++i, w += complex_row) {
            const bins::Vec wre = bins::load(w), wim = bins::load(w + splice_channels);
            for (unsigned r = 0; r < rows; ++r) {
                const bins::Vec a = bins::all(x[r * complex_row + i]),
                                b = bins::all(x[r * complex_row + splice_channels + i]);
                re[r] += a * wre;
                im[r] += a * wim;
                re[r] -= b * wim;
                im[r] += b * wre;
            }
        }
        for (unsigned r = 0; r < rows; ++r) {
            bins::store(products + r * complex_row + column, re[r]);
            bins::store(products + r * complex_row + splice_channels + column, im[r]);
        }
    }
    for (std::int64_t i = 0; i < std::int64_t{rows} * complex_row; i += bins::lanes)
        bins::store(x + i, bins::load(products + i));
}

constexpr unsigned spectra_at_once = bins::lanes == 16 ? 12 : 4;

template <unsigned rows>
inline void multiply_rest(const float* weights, float* x, std::int64_t count) {
    if constexpr (rows > 0) {
        if (count == rows) return multiply<rows>(weights, x);
        multiply_rest<rows - 1>(weights, x, count);
    }
}

inline bins::Vec activated(bins::Vec x, float slope) {
    return bins::greater(x, bins::Vec{}) + slope * bins::lesser(x, bins::Vec{});
}

/// Blocks of one convolution. Block i has the outputs first_row(i) + j * dilation, j < outputs(). Two blocks
/// are the real and the imaginary part of one transform.
struct Blocks {
    const SpliceSpectrum& spectrum;
    const SpliceNorm* norm;
    const float* x;
    std::int64_t rows;  // of the result

    std::int64_t outputs() const { return spectrum.points - spectrum.taps + 1; }
    std::int64_t stride() const { return spectrum.dilation * splice_channels; }
    std::int64_t first_row(std::int64_t i) const {
        return i / spectrum.dilation * outputs() * spectrum.dilation + i % spectrum.dilation;
    }
    std::int64_t count() const {
        const std::int64_t of_set = outputs() * spectrum.dilation, sets = rows / of_set,
                           rest = rows - sets * of_set;
        return sets * spectrum.dilation + (rest < spectrum.dilation ? rest : spectrum.dilation);
    }
    /// Points that are there of `most`, where rows end at `end`.
    std::int64_t points_within(std::int64_t i, std::int64_t most, std::int64_t end) const {
        const std::int64_t first = first_row(i),
                           left = (end - first + spectrum.dilation - 1) / spectrum.dilation;
        return first >= end || i >= count() ? 0 : left < most ? left : most;
    }
};

/// take(x) of each point of two blocks, 0 where rows have ended.
template <typename Take>
inline void load_points(const Blocks& blocks, std::int64_t i, std::int64_t column, Complex* points,
                        const Take& take) {
    const std::int64_t n = blocks.spectrum.points,
                       end = blocks.rows + (blocks.spectrum.taps - 1) * blocks.spectrum.dilation;
    const std::int64_t reals = blocks.points_within(i, n, end), others = blocks.points_within(i + 1, n, end);
    const float* from = blocks.x + blocks.first_row(i) * splice_channels + column;
    for (std::int64_t p = 0; p < n; ++p, from += blocks.stride())
        points[p].re = p < reals ? take(bins::load(from)) : bins::Vec{};
    from = blocks.x + blocks.first_row(i + 1) * splice_channels + column;
    for (std::int64_t p = 0; p < n; ++p, from += blocks.stride())
        points[p].im = p < others ? take(bins::load(from)) : bins::Vec{};
}

inline void load_blocks(const Blocks& blocks, std::int64_t i, std::int64_t column, Complex* points) {
    if (blocks.norm == nullptr) return load_points(blocks, i, column, points, [](bins::Vec x) { return x; });
    const bins::Vec scale = bins::load(blocks.norm->scale + column),
                    shift = bins::load(blocks.norm->shift + column);
    load_points(blocks, i, column, points,
                [&](bins::Vec x) { return activated(x * scale + shift, blocks.norm->slope); });
}

/// finish(element, sum) for each output of two blocks.
template <typename Finish>
inline void unload_blocks(const Blocks& blocks, std::int64_t i, std::int64_t column, const Complex* points,
                          const Finish& finish) {
    const bins::Vec bias = bins::load(blocks.spectrum.bias + column);
    const std::int64_t n = blocks.outputs();
    const std::int64_t reals = blocks.points_within(i, n, blocks.rows),
                       others = blocks.points_within(i + 1, n, blocks.rows);
    std::int64_t to = blocks.first_row(i) * splice_channels + column;
    for (std::int64_t p = 0; p < reals; ++p, to += blocks.stride())
        finish(to, points[p].re + bias);
    to = blocks.first_row(i + 1) * splice_channels + column;
    for (std::int64_t p = 0; p < others; ++p, to += blocks.stride())
        finish(to, points[p].im + bias);
}

/// `work` has (points, most_spectra) complex rows.
template <typename Finish>
inline void convolve_blocks(const Blocks& blocks, float* work, const Finish& finish) {
    constexpr std::int64_t most = splice_spectra;
    const SpliceSpectrum& spectrum = blocks.spectrum;
    const std::int64_t pairs = (blocks.count() + 1) / 2, groups = (pairs + most - 1) / most;
    alignas(64) Complex points[splice_most_points];
    for (std::int64_t g = 0; g < groups; ++g) {
        const std::int64_t begin = pairs * g / groups, count = pairs * (g + 1) / groups - begin;
        for (std::int64_t m = 0; m < count; ++m)
            for (std::int64_t column = 0; column < splice_channels; column += bins::lanes) {
                load_blocks(blocks, 2 * (begin + m), column, points);
                transform(points, spectrum);
                float* to = work + m * complex_row + column;
                for (std::int64_t p = 0; p < spectrum.points; ++p, to += most * complex_row) {
                    bins::store(to, points[p].re);
                    bins::store(to + splice_channels, points[p].im);
                }
            }
        for (std::int64_t p = 0; p < spectrum.points; ++p) {
            const float* weights = spectrum.weights + p * splice_channels * complex_row;
            float* row = work + p * most * complex_row;
            std::int64_t left = count;
            for (; left >= spectra_at_once; left -= spectra_at_once, row += spectra_at_once * complex_row)
                multiply<spectra_at_once>(weights, row);
            multiply_rest<spectra_at_once - 1>(weights, row, left);
        }
        for (std::int64_t m = 0; m < count; ++m)
            for (std::int64_t column = 0; column < splice_channels; column += bins::lanes) {
                const float* from = work + m * complex_row + column;
                for (std::int64_t p = 0; p < spectrum.points; ++p, from += most * complex_row)
                    points[p] = {bins::load(from), bins::load(from + splice_channels)};
                transform_back(points, spectrum);
                unload_blocks(blocks, 2 * (begin + m), column, points, finish);
            }
    }
}

}  // namespace

}  // namespace bigbird::networks
