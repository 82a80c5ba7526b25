// SPDX-License-Identifier: Apache-2.0
// The arithmetic of splicing networks over plain memory, float32, one thread. Rows are positions of 32
// channels. Each number is summed in an order of its own that no other row changes, so that any cut of the
// work gives the same bits.
#pragma once

#include <cstdint>

namespace bigbird::networks {

constexpr std::int64_t splice_channels = 32;

/// y[p] = bias + the sum over taps t and inputs i of x[p + t * dilation][i] * weights[t][i].
struct SpliceFilter {
    const float* weights;  ///< (taps, 32 in, 32 out)
    const float* bias;     ///< (32)
    std::int64_t taps = 1, dilation = 1;
};

/// The same filter for the same sums, up to rounding, by Fourier transforms over `points` bases of one class
/// modulo the dilation: points - taps + 1 sums of a transform. Their number is a power of 2, at most
/// splice_most_points. The rounding of a sum depends on all numbers of two transforms, which depend on
/// `count` and its index only.
struct SpliceSpectrum {
    const float* weights;   ///< (points, 32 in, real and imaginary part, 32 out), divided by `points`
    const float* twiddles;  ///< of each step, points / 4, points / 16, ... times three complex numbers
    const float* bias;      ///< (32)
    std::int64_t taps = 1, dilation = 1, points = 1;
};
constexpr std::int64_t splice_most_points = 128, splice_spectra = 12;

/// activation(x * scale + shift) of each channel; the activation multiplies numbers below 0 by the slope.
struct SpliceNorm {
    const float* scale;
    const float* shift;
    float slope;
};

struct SpliceKernels {
    /// to[p] = activation(y[p]) for p in [0, count): y, or slope * y where y is negative.
    void (*convolve)(const SpliceFilter& filter, const float* x, std::int64_t count, float slope, float* to);
    /// to[p] = base[p] + y[p]; `base` may be `to`.
    void (*convolve_onto)(const SpliceFilter& filter, const float* x, std::int64_t count, const float* base,
                          float* to);
    /// convolve() of norm(x), or of x if `norm` is null; with a base, convolve_onto(). `work` has room for
    /// splice_spectra complex rows of each point.
    void (*convolve_spectrum)(const SpliceSpectrum& filter, const SpliceNorm* norm, const float* x,
                              std::int64_t count, float slope, const float* base, float* to, float* work);
    /// to[p] = norm(x[p]).
    void (*activate)(const SpliceNorm& norm, const float* x, std::int64_t count, float* to);
};

/// The kernels for this processor (core/system/processor.hpp).
const SpliceKernels& splice_kernels();

/// The kernels for processors with these instructions, and for all others.
SpliceKernels splice_kernels_avx2();
SpliceKernels splice_kernels_avx512();
SpliceKernels splice_kernels_base();

}  // namespace bigbird::networks
