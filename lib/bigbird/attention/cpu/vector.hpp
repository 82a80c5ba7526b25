// SPDX-License-Identifier: Apache-2.0
// The vector operations of the kernels, for the instruction set of the including file. Everything is in an
// anonymous namespace, because code for different instruction sets must never be merged.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace {

#if defined(__AVX512F__)

struct Vec {
    static constexpr int lanes = 16;
    using Float = __m512;
    static Float load(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, Float x) { _mm512_storeu_ps(p, x); }
    static Float set(float x) { return _mm512_set1_ps(x); }
    static Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
    static Float sub(Float a, Float b) { return _mm512_sub_ps(a, b); }
    static Float mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
    static Float div(Float a, Float b) { return _mm512_div_ps(a, b); }
    static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
    static Float max(Float a, Float b) { return _mm512_max_ps(a, b); }
    /// Returns b if either is NaN.
    static Float min(Float a, Float b) { return _mm512_min_ps(a, b); }
    static bool any_above(Float a, Float b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }
    static float sum(Float a) { return _mm512_reduce_add_ps(a); }
    static float largest(Float a) { return _mm512_reduce_max_ps(a); }
    /// 0 where `x` < `limit`, else `value`.
    static Float zero_below(Float x, Float limit, Float value) {
        return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), value);
    }
    /// 2^n from the bits of n + 1.5 * 2^23.
    static Float power_of_two(Float shifted) {
        const __m512i n = _mm512_add_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(127));
        return _mm512_castsi512_ps(_mm512_slli_epi32(n, 23));
    }
    static Float load_bf16(const std::uint16_t* p) {
        const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
        return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
    }
    /// Rounded to bfloat16, in the upper halves of 32-bit lanes; NaN stays NaN.
    static __m512i rounded(Float x) {
        const __m512i bits = _mm512_castps_si512(x);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
        return _mm512_mask_mov_epi32(up, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q),
                                     _mm512_set1_epi32(0x7fc00000));
    }
    static void store_bf16(std::uint16_t* p, Float x) {
#if defined(__AVX512BF16__)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
#else
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded(x), 16)));
#endif
    }
    /// Pairs (even, odd) of bfloat16, even in the lower half.
    static void store_pairs(std::uint32_t* p, Float even, Float odd) {
        const __m512i low = _mm512_srli_epi32(rounded(even), 16);
        const __m512i high = _mm512_and_si512(rounded(odd), _mm512_set1_epi32(static_cast<int>(0xffff0000U)));
        _mm512_storeu_si512(p, _mm512_or_si512(low, high));
    }
};

/// dst[j][i] = src[i][j] for a 16 x 16 square of 32-bit words.
inline void transpose_square(std::uint32_t* dst, std::int64_t dst_stride, const std::uint32_t* src,
                             std::int64_t src_stride) {
    __m512i a[16], b[16];
    for (int i = 0; i < 16; ++i)
        a[i] = _mm512_loadu_si512(src + i * src_stride);
    for (int i = 0; i < 8; ++i) {
        b[2 * i] = _mm512_unpacklo_epi32(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm512_unpackhi_epi32(a[2 * i], a[2 * i + 1]);
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) {
            a[4 * i + 2 * j] = _mm512_unpacklo_epi64(b[4 * i + j], b[4 * i + j + 2]);
            a[4 * i + 2 * j + 1] = _mm512_unpackhi_epi64(b[4 * i + j], b[4 * i + j + 2]);
        }
    }
    // a[4 g + c] holds, in its 128-bit lane l, column 4 l + c of rows 4 g .. 4 g + 3.
    for (int c = 0; c < 4; ++c) {
        const __m512i even01 = _mm512_shuffle_i32x4(a[c], a[4 + c], 0x88),
                      odd01 = _mm512_shuffle_i32x4(a[c], a[4 + c], 0xdd);
        const __m512i even23 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0x88),
                      odd23 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0xdd);
        _mm512_storeu_si512(dst + c * dst_stride, _mm512_shuffle_i32x4(even01, even23, 0x88));
        _mm512_storeu_si512(dst + (4 + c) * dst_stride, _mm512_shuffle_i32x4(odd01, odd23, 0x88));
        _mm512_storeu_si512(dst + (8 + c) * dst_stride, _mm512_shuffle_i32x4(even01, even23, 0xdd));
        _mm512_storeu_si512(dst + (12 + c) * dst_stride, _mm512_shuffle_i32x4(odd01, odd23, 0xdd));
    }
}

#else

struct Vec {
    static constexpr int lanes = 8;
    using Float = __m256;
    static Float load(const float* p) { return _mm256_loadu_ps(p); }
    static void store(float* p, Float x) { _mm256_storeu_ps(p, x); }
    static Float set(float x) { return _mm256_set1_ps(x); }
    static Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
    static Float sub(Float a, Float b) { return _mm256_sub_ps(a, b); }
    static Float mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
    static Float div(Float a, Float b) { return _mm256_div_ps(a, b); }
    static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
    static Float max(Float a, Float b) { return _mm256_max_ps(a, b); }
    static Float min(Float a, Float b) { return _mm256_min_ps(a, b); }
    static bool any_above(Float a, Float b) {
        return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0;
    }
    static float sum(Float a) {
        __m128 x = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
    }
    static float largest(Float a) {
        __m128 x = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        x = _mm_max_ps(x, _mm_movehl_ps(x, x));
        return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
    }
    static Float zero_below(Float x, Float limit, Float value) {
        return _mm256_and_ps(_mm256_cmp_ps(x, limit, _CMP_NLT_UQ), value);
    }
    static Float power_of_two(Float shifted) {
        const __m256i n = _mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127));
        return _mm256_castsi256_ps(_mm256_slli_epi32(n, 23));
    }
    static Float load_bf16(const std::uint16_t* p) {
        const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
        return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
    }
    static void store_bf16(std::uint16_t* p, Float x) {
        const __m256i bits = _mm256_castps_si256(x);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
        const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        up = _mm256_srli_epi32(_mm256_blendv_epi8(up, _mm256_set1_epi32(0x7fc00000), nan), 16);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                         _mm_packus_epi32(_mm256_castsi256_si128(up), _mm256_extracti128_si256(up, 1)));
    }
};

/// dst[j][i] = src[i][j] for a 16 x 16 square of 32-bit words.
inline void transpose_square(std::uint32_t* dst, std::int64_t dst_stride, const std::uint32_t* src,
                             std::int64_t src_stride) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j)
            dst[j * dst_stride + i] = src[i * src_stride + j];
}

#endif

/// 2^x for x <= 127, 0 for x below -126. Relative error 2e-9 plus rounding, 3e-6 with `coarse`.
template <bool coarse>
inline Vec::Float exp2(Vec::Float x) {
    const auto c = [](float value) { return Vec::set(value); };
    const Vec::Float magic = c(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
    const Vec::Float shifted = Vec::add(x, magic);
    const Vec::Float f = Vec::sub(x, Vec::sub(shifted, magic));  // [-0.5, 0.5]
    Vec::Float p;
    if constexpr (coarse) {
        p = Vec::fma(c(0.009570096619427204F), f, c(0.05591785907745361F));
        p = Vec::fma(p, f, c(0.240247443318367F));
        p = Vec::fma(p, f, c(0.6931217908859253F));
        p = Vec::fma(p, f, c(0.9999992847442627F));
    } else {
        p = Vec::fma(c(0.0001534580806037411F), f, c(0.0013399930903688073F));
        p = Vec::fma(p, f, c(0.009618489071726799F));
        p = Vec::fma(p, f, c(0.05550328642129898F));
        p = Vec::fma(p, f, c(0.24022646248340607F));
        p = Vec::fma(p, f, c(0.6931471824645996F));
        p = Vec::fma(p, f, c(1.0F));
    }
    return Vec::zero_below(x, c(-126.0F), Vec::mul(p, Vec::power_of_two(shifted)));
}

}  // namespace
