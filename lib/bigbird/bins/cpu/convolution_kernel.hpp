// SPDX-License-Identifier: Apache-2.0
// A later stage of the stem over plain memory, float32, one thread: y = n + convolution(gelu(n)) + bias, n
// the LayerNorm of x; without "n +" where channels change. The convolution is Winograd's F(4, 5) along the
// sequence: 8 products for 4 positions instead of 20, with errors of a few units in 10^6 (Lavin and Gray
// 2016, arXiv 1509.09308).
#pragma once

#include <cstdint>

namespace bigbird::bins {

/// A tile's outputs, the filter's width, and the points that a tile is multiplied at.
constexpr std::int64_t tile = 4, taps = 5, points = 8;

struct ConvolutionShape {
    std::int64_t length = 0;       ///< positions of a window
    std::int64_t in = 0, out = 0;  ///< channels, multiples of ConvolutionKernel::channels
    float epsilon = 0;             ///< LayerNorm's
};

struct ConvolutionWeights {
    const float* filters;           ///< (points, in, out)
    const float* turned;            ///< (points, out, in) of the filters back to front; backward only
    const float *norm, *norm_bias;  ///< (in)
    const float* bias;              ///< (out)
};

/// Sums that backward adds to: filters (points, in, out), and the others as in ConvolutionWeights.
struct ConvolutionSums {
    float *filters, *norm, *norm_bias, *bias;
};

struct ConvolutionKernel {
    std::int64_t channels = 0;  ///< `in` and `out` must be multiples of it
    /// Positions that one call of forward or backward computes, from a multiple of it on.
    std::int64_t block = 0;
    /// Floats of scratch memory that a call needs.
    std::int64_t (*scratch)(const ConvolutionShape& shape);
    /// x: a window (length, in); y: (length, out), of which the block that begins at `first` is written.
    void (*forward)(const ConvolutionShape& shape, const ConvolutionWeights& weights, const float* x,
                    std::int64_t first, float* scratch, float* y);
    /// From dy, the gradient of y: writes the block of dx and adds its part to the sums.
    void (*backward)(const ConvolutionShape& shape, const ConvolutionWeights& weights, const float* x,
                     const float* dy, std::int64_t first, float* scratch, float* dx,
                     const ConvolutionSums& sums);
};

/// The filters of ConvolutionWeights from weight (out, in, taps): `to` is (points, in, out), or with `turned`
/// (points, out, in) of the filters back to front.
void filters_to_points(const ConvolutionShape& shape, const float* weight, bool turned, float* to);
/// The transposed function: the gradient of weight from the gradient of the filters (points, in, out).
void filters_from_points(const ConvolutionShape& shape, const float* filters, float* weight);

/// The kernel for this processor (core/system/processor.hpp).
const ConvolutionKernel& convolution_kernel();

/// The kernels for processors with these instructions, and for all others.
ConvolutionKernel convolution_kernel_avx2();
ConvolutionKernel convolution_kernel_avx512();
ConvolutionKernel convolution_kernel_base();

}  // namespace bigbird::bins
