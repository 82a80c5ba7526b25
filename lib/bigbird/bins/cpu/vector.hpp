// SPDX-License-Identifier: Apache-2.0
// Vectors of floats for the kernels of this folder, as wide as the including file's instruction set allows.
// Everything is in an anonymous namespace and nothing comes from the standard library, so that code compiled
// for one instruction set is never linked into another's.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bigbird::bins {

namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

// A vector extension of g++ and clang++: operators work lane by lane.
using Vec __attribute__((vector_size(lanes * sizeof(float)))) = float;
using Ints __attribute__((vector_size(lanes * sizeof(float)))) = std::int32_t;

inline Vec load(const float* from) {
    Vec x;
    __builtin_memcpy(&x, from, sizeof(x));
    return x;
}
inline void store(float* to, Vec x) {
    __builtin_memcpy(to, &x, sizeof(x));
}
/// The first `count` lanes, 1 to `lanes`; the others are 0.
inline Vec load_some(const float* from, std::int64_t count) {
    if (count == lanes) return load(from);
    Vec x{};
    for (std::int64_t i = 0; i < count; ++i)
        x[i] = from[i];
    return x;
}
inline void store_some(float* to, std::int64_t count, Vec x) {
    if (count == lanes) return store(to, x);
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = x[i];
}
inline Vec all(float x) {
    return x - Vec{};
}
inline Vec greater(Vec a, Vec b) {
#if defined(__AVX512F__)
    return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
    return _mm256_max_ps(a, b);  // g++ 12 makes two instructions of the line below
#else
    return a > b ? a : b;
#endif
}

constexpr float lowest = -3e38F, log2_e = 1.44269504F;

inline Vec lesser(Vec a, Vec b) {
#if defined(__AVX512F__)
    return _mm512_min_ps(a, b);
#elif defined(__AVX2__)
    return _mm256_min_ps(a, b);
#else
    return a < b ? a : b;
#endif
}

/// 2^x, relative error 2e-7. Results are limited to 2^-126 and 2^126, or become 0 and infinity.
inline Vec exp2(Vec x) {
    const Vec rounder = all(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
#if !defined(__AVX512F__)
    x = lesser(greater(x, all(-126.0F)), all(126.0F));
#endif
    const Vec shifted = x + rounder, whole = shifted - rounder;
    const Vec f = x - whole;  // [-0.5, 0.5]
    Vec p = 0.0001534580806037411F * f + 0.0013399930903688073F;
    p = p * f + 0.009618489071726799F;
    p = p * f + 0.05550328642129898F;
    p = p * f + 0.24022646248340607F;
    p = p * f + 0.6931471824645996F;
    p = p * f + 1.0F;
#if defined(__AVX512F__)
    return _mm512_scalef_ps(p, whole);
#else
    // The low bits of `shifted` are the whole number, which is added to p's exponent.
    return reinterpret_cast<Vec>(reinterpret_cast<Ints>(p) + (reinterpret_cast<Ints>(shifted) << 23));
#endif
}

constexpr float gelu_a = 1.5957691216F, gelu_b = 0.044715F;  // 2 sqrt(2 / pi)

/// gelu(x) is x * gelu_gate(x), by the tanh formula: sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)).
inline Vec gelu_gate(Vec x) {
    const Vec power = x * (x * x * (-log2_e * gelu_a * gelu_b) - log2_e * gelu_a);
    return 1.0F / (1.0F + exp2(power));
}

/// The slope of gelu at x, whose gelu_gate() is `gate`.
inline Vec gelu_slope(Vec x, Vec gate) {
    return gate + x * gate * (1.0F - gate) * (x * x * (3 * gelu_a * gelu_b) + gelu_a);
}

}  // namespace

}  // namespace bigbird::bins
