// SPDX-License-Identifier: Apache-2.0
// The loops of pool_kernel.hpp, which each file that includes this compiles for its instruction set. All is
// in an anonymous namespace and nothing comes from the standard library, so that code made for one processor
// is never linked into another's.
#pragma once

#include "bigbird/bins/pool/pool_kernel.hpp"

namespace bigbird::bins {

namespace {

constexpr std::int64_t strip = 64;  // channels that are computed side by side

inline float lesser(float a, float b) {
    return a < b ? a : b;
}
inline float greater(float a, float b) {
    return a > b ? a : b;
}

/// e^x to two units in the last place; x is cut to where float holds the result. No branches, so that loops
/// over it become vector code.
inline float fast_exp(float x) {
    constexpr float most = 88.0F, log2e = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
    constexpr float rounder = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
    x = lesser(greater(x, -87.0F), most);
    const float whole = (x * log2e + rounder) - rounder;
    const float r = (x - whole * ln2_high) - whole * ln2_low;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    const auto exponent = static_cast<std::int32_t>(whole) + 127;
    return p * __builtin_bit_cast(float, exponent << 23);
}

constexpr float gelu_a = 1.5957691216F, gelu_b = 0.044715F;  // 2 sqrt(2 / pi)

/// x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), which is the tanh formula.
inline float gelu_of(float x) {
    return x / (1.0F + fast_exp(-gelu_a * (x + gelu_b * x * x * x)));
}

inline float gelu_slope(float x) {
    const float s = 1.0F / (1.0F + fast_exp(-gelu_a * (x + gelu_b * x * x * x)));
    return s + x * s * (1.0F - s) * gelu_a * (1.0F + 3.0F * gelu_b * x * x);
}

inline void load(const float* x, std::int64_t count, bool gelu, float* value) {
    if (gelu) {
        for (std::int64_t c = 0; c < count; ++c)
            value[c] = gelu_of(x[c]);
    } else {
        for (std::int64_t c = 0; c < count; ++c)
            value[c] = x[c];
    }
}

/// x: (pool, channels) of which `count` channels are pooled; most: the greatest sharp * value; sum: of the
/// weights; mean: the result.
inline void pool_strip(const PoolShape& shape, const float* x, const float* sharp, std::int64_t count,
                       bool gelu, float* most, float* sum, float* mean) {
    float value[strip];
    for (std::int64_t c = 0; c < count; ++c) {
        most[c] = -3e38F;
        sum[c] = mean[c] = 0;
    }
    for (std::int64_t j = 0; j < shape.pool; ++j) {
        load(x + j * shape.channels, count, gelu, value);
        for (std::int64_t c = 0; c < count; ++c) {
            // What was summed up is scaled where a greater one comes.
            const float z = sharp[c] * value[c], greatest = greater(most[c], z);
            const float scale = fast_exp(most[c] - greatest), weight = fast_exp(z - greatest);
            sum[c] = sum[c] * scale + weight;
            mean[c] = mean[c] * scale + weight * value[c];
            most[c] = greatest;
        }
    }
    for (std::int64_t c = 0; c < count; ++c)
        mean[c] /= sum[c];
}

void forward_impl(const PoolShape& shape, const float* x, const float* sharpness, bool gelu, float* y) {
    float most[strip], sum[strip], mean[strip];
    for (std::int64_t o = 0; o < shape.outputs; ++o) {
        for (std::int64_t c0 = 0; c0 < shape.channels; c0 += strip) {
            const std::int64_t count = shape.channels - c0 < strip ? shape.channels - c0 : strip;
            pool_strip(shape, x + o * shape.pool * shape.channels + c0, sharpness + c0, count, gelu, most,
                       sum, mean);
            for (std::int64_t c = 0; c < count; ++c)
                y[o * shape.channels + c0 + c] = mean[c];
        }
    }
}

/// The gradients of one strip of one output.
inline void backward_strip(const PoolShape& shape, const float* x, const float* sharp, std::int64_t count,
                           bool gelu, const float* dy, float* dx, float* d_sharp) {
    float most[strip], sum[strip], mean[strip], value[strip];
    pool_strip(shape, x, sharp, count, gelu, most, sum, mean);
    for (std::int64_t j = 0; j < shape.pool; ++j) {
        const float* const row = x + j * shape.channels;
        float* const out = dx + j * shape.channels;
        load(row, count, gelu, value);
        for (std::int64_t c = 0; c < count; ++c) {
            const float weight = fast_exp(sharp[c] * value[c] - most[c]) / sum[c];
            const float above = value[c] - mean[c];
            out[c] = dy[c] * weight * (1.0F + sharp[c] * above);
            d_sharp[c] += dy[c] * weight * value[c] * above;
        }
        if (!gelu) continue;
        for (std::int64_t c = 0; c < count; ++c)
            out[c] *= gelu_slope(row[c]);
    }
}

void backward_impl(const PoolShape& shape, const float* x, const float* sharpness, bool gelu, const float* dy,
                   float* dx, float* d_sharpness) {
    for (std::int64_t o = 0; o < shape.outputs; ++o) {
        for (std::int64_t c0 = 0; c0 < shape.channels; c0 += strip) {
            const std::int64_t count = shape.channels - c0 < strip ? shape.channels - c0 : strip;
            const std::int64_t at = o * shape.pool * shape.channels + c0;
            backward_strip(shape, x + at, sharpness + c0, count, gelu, dy + o * shape.channels + c0, dx + at,
                           d_sharpness + c0);
        }
    }
}

}  // namespace

}  // namespace bigbird::bins
