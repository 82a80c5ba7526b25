// SPDX-License-Identifier: Apache-2.0
// What the CUDA kernels between the matrix products are given: plain data. Tensors of 16-bit numbers
// and parameters are contiguous and aligned to 16 bytes; columns are a multiple of 8.
#pragma once

#include "bigbird/attention/cuda/arguments.hpp"

namespace bigbird::attention::cuda {

/// Dropout as model::dropout() does it on the CPU: element i of a sample is dropped where 32 bits of the
/// value i / 2 of SplitMix64's stream keys[sample] are below `below`, else multiplied by `scale`.
struct Dropout {
    const std::int64_t* keys = nullptr;  ///< one a sample; null: nothing is dropped
    std::int32_t rows_per_sample = 1;
    std::uint32_t below = 0;  ///< probability * 2^32
    float scale = 1;          ///< 1 / (1 - probability)
};

/// Rows made of three tables of floats: words[ids[row]] * word_scale + token_types[types[row]] +
/// positions[row % length], the last of which is 0 from position_count on.
struct Gather {
    const std::int64_t *ids = nullptr, *types = nullptr;  ///< (rows); no ids: nothing is gathered
    const float *words = nullptr, *token_types = nullptr, *positions = nullptr;
    std::int32_t length = 1, position_count = 0;
    float word_scale = 1;
};

/// y = LayerNorm(residual + dropout(x)) over rows of at most largest_norm columns.
inline constexpr int largest_norm = 1024;
struct NormArguments {
    Element element = Element::bf16;
    std::int32_t rows = 0, columns = 0;
    float epsilon = 1e-12F;
    Dropout dropout;
    Gather gather;                                   ///< where it has ids, in the place of x
    const void *x = nullptr, *residual = nullptr;    ///< (rows, columns); no residual: null
    const float *weight = nullptr, *bias = nullptr;  ///< (columns)
    void* y = nullptr;                               ///< (rows, columns)
    // For the backward pass; all null without one.
    void* sum = nullptr;                        ///< (rows, columns): residual + dropout(x)
    float *mean = nullptr, *inverse = nullptr;  ///< (rows): of the sum, and 1 / its standard deviation
    // Backward alone.
    const void* d_y = nullptr;
    void *d_x = nullptr, *d_sum = nullptr;  ///< d_sum is the residual's gradient, too
    float *d_weight = nullptr, *d_bias = nullptr;
    float* parts = nullptr;  ///< (part_count, 2, columns), workspace
    std::int32_t part_count = 0;
};

/// y = gelu(x + bias), by the tanh formula.
struct GeluArguments {
    Element element = Element::bf16;
    std::int32_t rows = 0, columns = 0;
    const void* x = nullptr;      ///< (rows, columns)
    const float* bias = nullptr;  ///< (columns)
    void* y = nullptr;
    // Backward alone.
    const void* d_y = nullptr;
    void* d_x = nullptr;
    float *d_bias = nullptr, *parts = nullptr;  ///< parts: (part_count, columns), workspace
    std::int32_t part_count = 0;
};

/// The loss of rows of logits and, in their place, its gradient: softmax(logits), less 1 at the label.
struct SoftmaxArguments {
    Element element = Element::bf16;
    std::int32_t rows = 0, columns = 0;
    void* logits = nullptr;                ///< (rows, columns)
    const std::int64_t* labels = nullptr;  ///< (rows), each in [0, columns)
    float* nats = nullptr;                 ///< (rows): -ln softmax(logits)[label]
    std::int32_t* correct = nullptr;  ///< (rows): 1 where the label's logit is the first greatest, else 0
    std::int32_t differentiate = 1;   ///< 0: logits stay as they are
};
/// Warps of a thread block that takes a row, and its bytes of shared memory: three numbers a warp.
inline constexpr int softmax_warps = 16, softmax_shared = softmax_warps * 3 * static_cast<int>(sizeof(float));

/// Warps of a thread block that adds up parts, and its bytes of shared memory.
inline constexpr int sum_warps = 16, sum_shared = sum_warps * 32 * static_cast<int>(sizeof(float));

#if defined(__CUDACC__)
#define BIGBIRD_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define BIGBIRD_HOST_DEVICE inline
#endif

/// Bytes of shared memory of a norm's backward pass.
BIGBIRD_HOST_DEVICE constexpr int norm_backward_shared(int columns) {
    return 4 * 2 * columns * static_cast<int>(sizeof(float));  // four warps, weight and bias
}
/// Thread blocks side by side that cover a row for gelu: 128 threads of eight columns each.
BIGBIRD_HOST_DEVICE constexpr int gelu_strips(int columns) {
    return (columns + 8 * 128 - 1) / (8 * 128);
}

}  // namespace bigbird::attention::cuda
