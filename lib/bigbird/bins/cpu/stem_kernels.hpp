// SPDX-License-Identifier: Apache-2.0
// The kernels of the stem over plain memory, float32, one thread. They know no LibTorch.
#pragma once

#include <cstdint>

namespace bigbird::bins {

// Softmax pooling; softmax_pool() defines the result.

/// x: (outputs, pool, channels), sharpness: (channels), y: (outputs, channels); contiguous.
struct PoolShape {
    std::int64_t outputs = 0, pool = 1, channels = 0;
};

struct PoolKernel {
    void (*forward)(const PoolShape& shape, const float* x, const float* sharpness, float* y);
    /// From dy, the gradient of y: writes dx and adds to d_sharpness.
    void (*backward)(const PoolShape& shape, const float* x, const float* sharpness, const float* dy,
                     float* dx, float* d_sharpness);
};

// The first stage, `lanes` channels at a time; stem.hpp defines the result. A filter's sum at a base
// is bias + one table row per three letters under the filter. So no convolution is computed, and the sums
// never leave the processor's registers.

/// A word is three letters of A C G T N: 25 a + 5 b + c, N 4.
constexpr std::int64_t word_letters = 3, words_in_all = 125;

struct FirstShape {
    std::int64_t outputs = 0;          ///< outputs per window
    std::int64_t outputs_of_site = 1;  ///< outputs that share one site
    std::int64_t pool = 1;             ///< bases of an output; at most most_pool
    std::int64_t strands = 1;          ///< 1 or 2
    std::int64_t chunks = 0;           ///< words that a filter covers
    std::int64_t stride = 0;           ///< floats from one output to the next in y
    std::int64_t site_stride = 0;      ///< the same in sites
};
constexpr int most_pool = 32;

/// Parameters of `lanes` channels.
struct FirstWeights {
    const float* table;  ///< (chunks, words_in_all, strands, lanes)
    const float *bias, *sharpness;
};

/// Outputs of forward: y (outputs, lanes), and sites (outputs / outputs_of_site, lanes) or null.
struct FirstOutputs {
    float *y, *sites;
};

/// Gradients of y and of sites (null: none), and the gradients of FirstWeights, which are added to.
struct FirstGradients {
    const float *y, *sites;
    float *table, *bias, *sharpness;
};

struct FirstKernel {
    std::int64_t lanes = 0;
    /// words: chunk k of the filter at base t covers words[t + word_letters * k], times strands * lanes.
    void (*forward)(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
                    const FirstOutputs& outputs);
    /// A site's gradient is spread evenly over the bases that have the maximum.
    void (*backward)(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
                     const FirstGradients& gradients);
};

// A later stage: y = n + convolution(gelu(n)) + bias, n the LayerNorm of x; without "n +" where channels
// change. The convolution is Winograd's F(4, 5) along the sequence: 8 products for 4 positions instead of 20,
// with errors of a few units in 10^6 (Lavin and Gray 2016, arXiv 1509.09308).

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

struct StemKernels {
    PoolKernel pool;
    FirstKernel first;
    ConvolutionKernel convolution;
};

/// The kernels for this processor (core/system/processor.hpp).
const StemKernels& stem_kernels();

/// The kernels for processors with these instructions, and for all others.
StemKernels stem_kernels_avx2();
StemKernels stem_kernels_avx512();
StemKernels stem_kernels_base();

}  // namespace bigbird::bins
