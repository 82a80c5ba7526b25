// SPDX-License-Identifier: Apache-2.0
// Small matrix products C (m, n) += A (m, k) B (k, n), and the forms that their operands take in memory.
// A *plain* operand is row-major; a *paired* one, which the bfloat16 instructions want for B, holds rows 2 i
// and 2 i + 1 interleaved, a 32-bit word per pair. For float both are row-major. m and n are multiples of 16,
// k and all padded sizes of `step`. C is float.
#pragma once

#include "bigbird/attention/cpu/vector.hpp"

#include <cstring>

namespace {

/// dst (cols, rows) = src (rows, cols)^T in 32-bit words; both sizes multiples of 16.
inline void transpose_words(std::uint32_t* dst, std::int64_t dst_stride, const std::uint32_t* src,
                            std::int64_t src_stride, std::int64_t rows, std::int64_t cols) {
    for (std::int64_t i = 0; i < rows; i += 16)
        for (std::int64_t j = 0; j < cols; j += 16)
            transpose_square(dst + j * dst_stride + i, dst_stride, src + i * src_stride + j, src_stride);
}

/// A matrix in memory; its rows are `stride` elements apart.
template <typename T>
struct Matrix {
    T* data;
    std::int64_t stride;
    T* at(std::int64_t row, std::int64_t column) const { return data + row * stride + column; }
    Matrix from(std::int64_t row, std::int64_t column) const { return {at(row, column), stride}; }
};

/// Sizes of a product C (m, n) = A (m, k) B (k, n).
struct ProductSizes {
    std::int64_t m, n, k;
};

/// Rows x columns of registers that one inner loop keeps: `broadcast(a, row, k)` against `columns` vectors.
template <typename Step, int rows, int columns>
inline void register_tile(Matrix<float> c, Matrix<const typename Step::A> a, Matrix<const typename Step::B> b,
                          std::int64_t k, bool add) {
    Vec::Float sum[static_cast<std::size_t>(rows)][static_cast<std::size_t>(columns)];
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            sum[i][j] = add ? Vec::load(c.at(i, j * Vec::lanes)) : Vec::set(0);
    for (std::int64_t kk = 0; kk < k; ++kk) {
        typename Step::Vector right[static_cast<std::size_t>(columns)];
        for (int j = 0; j < columns; ++j)
            right[j] = Step::load(b.at(kk, j * Vec::lanes));
        for (int i = 0; i < rows; ++i) {
            const typename Step::Vector left = Step::broadcast(a.at(i, kk));
            for (int j = 0; j < columns; ++j)
                sum[i][j] = Step::multiply_add(sum[i][j], left, right[j]);
        }
    }
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            Vec::store(c.at(i, j * Vec::lanes), sum[i][j]);
}

/// C from register tiles of 4 rows and up to `widest` vectors.
template <typename Step>
inline void product_of_registers(Matrix<float> c, Matrix<const typename Step::A> a,
                                 Matrix<const typename Step::B> b, ProductSizes size, bool add) {
    constexpr int widest = Vec::lanes == 16 ? 4 : 2;
    for (std::int64_t j = 0; j < size.n;) {
        const std::int64_t vectors = (size.n - j) / Vec::lanes;
        for (std::int64_t i = 0; i < size.m; i += 4) {
            const auto tile = [&]<int columns>() {
                register_tile<Step, 4, columns>(c.from(i, j), a.from(i, 0), b.from(0, j), size.k, add);
            };
            if (vectors >= widest)
                tile.template operator()<widest>();
            else if (vectors == 3)
                tile.template operator()<3>();
            else if (vectors == 2)
                tile.template operator()<2>();
            else
                tile.template operator()<1>();
        }
        j += (vectors < widest ? vectors : widest) * Vec::lanes;
    }
}

struct FloatTiles {
    using Element = float;
    static constexpr int step = 16;
    static constexpr bool coarse = false;

    struct Step {
        using A = float;
        using B = float;
        using Vector = Vec::Float;
        static Vector load(const B* p) { return Vec::load(p); }
        static Vector broadcast(const A* p) { return Vec::set(*p); }
        static Vec::Float multiply_add(Vec::Float sum, Vector x, Vector y) { return Vec::fma(x, y, sum); }
    };

    static void begin() {}
    static void end() {}
    /// The stride of b counts columns of B.
    static void multiply(Matrix<float> c, Matrix<const Element> a, Matrix<const Element> b, ProductSizes size,
                         bool add) {
        product_of_registers<Step>(c, a, b, size, add);
    }
    static Vec::Float load(const Element* p) { return Vec::load(p); }
    static void store_plain(Element* p, Vec::Float x) { Vec::store(p, x); }
    /// Two rows of a B operand of `n` columns.
    static void store_rows(Element* pair, std::int64_t n, Vec::Float even, Vec::Float odd) {
        Vec::store(pair, even);
        Vec::store(pair + n, odd);
    }
    static Element* row_pair(Element* b, std::int64_t row, std::int64_t col, std::int64_t n) {
        return b + row * n + col;
    }
    /// B = plain, and B = plain^T, of a plain (rows, cols) matrix.
    static void as_right(Element* b, const Element* plain, std::int64_t rows, std::int64_t cols) {
        std::memcpy(b, plain, static_cast<std::size_t>(rows * cols) * sizeof(Element));
    }
    static void as_right_transposed(Element* b, const Element* plain, std::int64_t rows, std::int64_t cols) {
        transpose_words(reinterpret_cast<std::uint32_t*>(b), rows,
                        reinterpret_cast<const std::uint32_t*>(plain), cols, rows, cols);
    }
    /// A = right^T, with `right` from as_right().
    static void as_left_transposed(Element* a, const Element* right, std::int64_t rows, std::int64_t cols) {
        as_right_transposed(a, right, rows, cols);
    }
};

#if defined(__AVX512F__)

/// bfloat16 operands; Derived supplies multiply().
struct PairedForms {
    using Element = std::uint16_t;
    static constexpr int step = 32;
    static constexpr bool coarse = true;

    static Vec::Float load(const Element* p) { return Vec::load_bf16(p); }
    static void store_plain(Element* p, Vec::Float x) { Vec::store_bf16(p, x); }
    static void store_rows(Element* pair, std::int64_t, Vec::Float even, Vec::Float odd) {
        Vec::store_pairs(reinterpret_cast<std::uint32_t*>(pair), even, odd);
    }
    static Element* row_pair(Element* b, std::int64_t row, std::int64_t col, std::int64_t n) {
        return b + row * n + 2 * col;
    }
    static void as_right(Element* b, const Element* plain, std::int64_t rows, std::int64_t cols) {
        for (std::int64_t i = 0; i < rows; i += 2) {
            for (std::int64_t j = 0; j < cols; j += 16) {
                const auto wide = [&](std::int64_t row) {
                    return _mm512_cvtepu16_epi32(
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plain + row * cols + j)));
                };
                _mm512_storeu_si512(b + i * cols + 2 * j,
                                    _mm512_or_si512(wide(i), _mm512_slli_epi32(wide(i + 1), 16)));
            }
        }
    }
    static void as_right_transposed(Element* b, const Element* plain, std::int64_t rows, std::int64_t cols) {
        transpose_words(reinterpret_cast<std::uint32_t*>(b), rows,
                        reinterpret_cast<const std::uint32_t*>(plain), cols / 2, rows, cols / 2);
    }
    static void as_left_transposed(Element* a, const Element* right, std::int64_t rows, std::int64_t cols) {
        transpose_words(reinterpret_cast<std::uint32_t*>(a), rows / 2,
                        reinterpret_cast<const std::uint32_t*>(right), cols, rows / 2, cols);
    }
};

#endif
#if defined(__AVX512BF16__)

struct PairTiles : PairedForms {
    struct Step {
        using A = std::uint32_t;
        using B = std::uint32_t;
        using Vector = __m512i;
        static Vector load(const B* p) { return _mm512_loadu_si512(p); }
        static Vector broadcast(const A* p) { return _mm512_set1_epi32(static_cast<int>(*p)); }
        static Vec::Float multiply_add(Vec::Float sum, Vector x, Vector y) {
            return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(y));
        }
    };
    static void begin() {}
    static void end() {}
    static void multiply(Matrix<float> c, Matrix<const Element> a, Matrix<const Element> b, ProductSizes size,
                         bool add) {
        product_of_registers<Step>(c, {reinterpret_cast<const std::uint32_t*>(a.data), a.stride / 2},
                                   {reinterpret_cast<const std::uint32_t*>(b.data), b.stride},
                                   {size.m, size.n, size.k / 2}, add);
    }
};

#endif
#if defined(__AMX_BF16__)

/// 16 x 16 results of 16 x 32 by 32 x 16 operands in tile registers.
struct MatrixTiles : PairedForms {
    static void begin() {
        struct alignas(64) Configuration {
            std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
            std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        };
        static const Configuration configuration;
        _tile_loadconfig(&configuration);
    }
    static void end() { _tile_release(); }

    /// Up to 2 x 2 tiles of C; tiles 0-3 hold them, 4-5 A and 6-7 B. The stride of b counts columns of B.
    template <bool tall, bool wide>
    static void corner(Matrix<float> c, Matrix<const Element> a, Matrix<const Element> b, std::int64_t k,
                       bool add) {
        const std::int64_t c_bytes = c.stride * 4, a_bytes = a.stride * 2, b_bytes = b.stride * 4;
        if (add) {
            _tile_loadd(0, c.data, c_bytes);
            if constexpr (wide) _tile_loadd(1, c.at(0, 16), c_bytes);
            if constexpr (tall) _tile_loadd(2, c.at(16, 0), c_bytes);
            if constexpr (tall && wide) _tile_loadd(3, c.at(16, 16), c_bytes);
        } else {
            _tile_zero(0);
            if constexpr (wide) _tile_zero(1);
            if constexpr (tall) _tile_zero(2);
            if constexpr (tall && wide) _tile_zero(3);
        }
        for (std::int64_t kk = 0; kk < k; kk += 32) {
            _tile_loadd(4, a.at(0, kk), a_bytes);
            _tile_loadd(6, b.at(kk, 0), b_bytes);
            _tile_dpbf16ps(0, 4, 6);
            if constexpr (wide) {
                _tile_loadd(7, b.at(kk, 32), b_bytes);
                _tile_dpbf16ps(1, 4, 7);
            }
            if constexpr (tall) {
                _tile_loadd(5, a.at(16, kk), a_bytes);
                _tile_dpbf16ps(2, 5, 6);
            }
            if constexpr (tall && wide) _tile_dpbf16ps(3, 5, 7);
        }
        _tile_stored(0, c.data, c_bytes);
        if constexpr (wide) _tile_stored(1, c.at(0, 16), c_bytes);
        if constexpr (tall) _tile_stored(2, c.at(16, 0), c_bytes);
        if constexpr (tall && wide) _tile_stored(3, c.at(16, 16), c_bytes);
    }

    static void multiply(Matrix<float> c, Matrix<const Element> a, Matrix<const Element> b, ProductSizes size,
                         bool add) {
        for (std::int64_t j = 0; j < size.n; j += 32) {
            for (std::int64_t i = 0; i < size.m; i += 32) {
                const auto tiles = [&]<bool tall, bool wide>() {
                    corner<tall, wide>(c.from(i, j), a.from(i, 0), b.from(0, 2 * j), size.k, add);
                };
                const bool wide = size.n - j > 16;
                if (size.m - i > 16) {
                    wide ? tiles.template operator()<true, true>() : tiles.template operator()<true, false>();
                } else {
                    wide ? tiles.template operator()<false, true>()
                         : tiles.template operator()<false, false>();
                }
            }
        }
    }
};

#endif

}  // namespace
