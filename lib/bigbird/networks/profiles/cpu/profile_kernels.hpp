// SPDX-License-Identifier: Apache-2.0
// The kernels of the BPNet family over plain memory, float32, one thread. They know no LibTorch. Each number
// is summed in an order that does not depend on the other rows of a call, so that parts make the whole to the
// last bit.
//
// A row holds the filters of one position, and zeros up to a multiple of ProfileKernels::columns.
#pragma once

#include <cstdint>

namespace bigbird::networks {

enum class Activation : std::uint8_t { none, relu, gelu };

// The stem: a filter's sum is its bias and one table row per three letters under it.

/// A word is three letters of A C G T N: 25 a + 5 b + c, N 4.
constexpr std::int64_t word_letters = 3, words_in_all = 125;

struct StemWeights {
    const float* table;  ///< (chunks, words_in_all, row)
    const float* bias;   ///< (row)
    std::int64_t chunks = 0, row = 0;
    Activation activation = Activation::none;
};

// Products: (rows, in) x (in, out). Weights are packed: (out / columns, in, columns).

struct Product {
    const float* weights;
    std::int64_t in = 0, out = 0;  ///< out: a multiple of columns
};

// A dilated convolution of width 3, by Winograd's F(2, 3) along the sequence: 4 products for 2 positions
// instead of 6, with errors like those of direct sums (Lavin and Gray 2016, arXiv 1509.09308). The positions
// of a pair are `dilation` apart. The first one's number, modulo 2 dilation, is less than dilation.

constexpr std::int64_t points = 4;

struct DilatedLayer {
    Product product{};    ///< at the first point; those at the others follow, in * out floats further on
    const float* bias{};  ///< (row)
    std::int64_t row = 0, dilation = 0;
    bool relu_before = false, relu_after = false;  ///< of the convolution
    bool relu_last = false;                        ///< of the sum with the trunk
};

/// x + scale * linear2(gelu(linear1((y - mean) * factor))).
struct FeedForward {
    Product first{}, second{};
    float scale = 0;
};

struct ProfileKernels {
    std::int64_t columns = 0;
    /// Rows (or pairs) of one call, at most.
    std::int64_t most_rows = 0;
    /// Position i reads words[i], words[i + word_letters], …
    void (*stem)(const StemWeights& weights, const std::uint16_t* words, std::int64_t count,
                 float* const* to);
    /// x + convolution(x) at pairs; from[position]: rows of x. to: for each pair its two rows, null if not
    /// wanted. scratch: 8 rows a pair.
    void (*convolve)(const DilatedLayer& layer, const std::int64_t* pairs, std::int64_t count,
                     const float* const* from, float* const* to, float* scratch);
    void (*multiply)(const Product& product, const float* const* rows, std::int64_t count, float* const* to);
    /// The convolution of each filter by itself: taps (3, row), the rows before, at and behind a position.
    void (*separate)(const float* taps, std::int64_t row, const float* const* from, std::int64_t dilation,
                     std::int64_t count, float* const* to);
    /// Adds x - mean and its square of `filters` numbers of each row, to sums[0] and sums[1].
    void (*moments)(const float* const* rows, std::int64_t count, std::int64_t filters, float mean,
                    double* sums);
    /// scratch: `2 * row + first.out` floats a row.
    void (*feed_forward)(const FeedForward& layer, std::int64_t row, const float* const* y,
                         std::int64_t count, float mean, float factor, float* const* x, float* scratch);
    void (*sum_rows)(const float* const* rows, std::int64_t count, std::int64_t row, float* to);
    /// to[i * stride] = bias + sum of rows[i + k][offset + head - 1 - k] over k < head. scratch:
    /// diagonals_scratch() floats.
    void (*sum_diagonals)(const float* const* rows, std::int64_t offset, std::int64_t head,
                          std::int64_t outputs, float bias, float* scratch, float* to, std::int64_t stride);
};
constexpr std::int64_t diagonals_scratch(std::int64_t head, std::int64_t outputs) {
    constexpr std::int64_t most_lanes = 16;
    return most_lanes * (outputs + 2 * head + 4 * most_lanes);
}

/// The kernels for this processor (core/system/processor.hpp).
const ProfileKernels& profile_kernels();

/// The kernels for processors with these instructions, and for all others.
ProfileKernels profile_kernels_avx2();
ProfileKernels profile_kernels_avx512();
ProfileKernels profile_kernels_base();

}  // namespace bigbird::networks
