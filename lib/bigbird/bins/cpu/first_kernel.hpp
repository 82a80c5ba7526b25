// SPDX-License-Identifier: Apache-2.0
// The first stage over plain memory, float32, one thread, `lanes` channels at a time; first_stage.hpp defines
// the result. A filter's sum at a base is bias + one table row per three letters under the filter. So no
// convolution is computed, and the sums never leave the processor's registers.
#pragma once

#include <cstdint>

namespace bigbird::bins {

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

/// The kernel for this processor (core/system/processor.hpp).
const FirstKernel& first_kernel();

/// The kernels for processors with these instructions, and for all others.
FirstKernel first_kernel_avx2();
FirstKernel first_kernel_avx512();
FirstKernel first_kernel_base();

}  // namespace bigbird::bins
