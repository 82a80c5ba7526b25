// SPDX-License-Identifier: Apache-2.0
// The stem and dilated convolutions, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/networks/profiles/cpu/product_impl.hpp"

namespace bigbird::networks {

namespace {

inline Vec rectify(Vec x) {
    return greater(x, Vec{});
}

template <Activation activation>
inline Vec activated(Vec x) {
    if constexpr (activation == Activation::relu) return rectify(x);
    if constexpr (activation == Activation::gelu) return x * bins::gelu_gate(x);
    return x;
}

template <Activation activation>
void stem_rows(const StemWeights& weights, const std::uint16_t* words, std::int64_t count, float* const* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t c = 0; c < weights.row; c += lanes) {
            Vec sum = load(weights.bias + c);
            for (std::int64_t k = 0; k < weights.chunks; ++k)
                sum +=
                    load(weights.table + (k * words_in_all + words[i + k * word_letters]) * weights.row + c);
            store(to[i] + c, activated<activation>(sum));
        }
    }
}

void stem(const StemWeights& weights, const std::uint16_t* words, std::int64_t count, float* const* to) {
    switch (weights.activation) {
        case Activation::none:
            return stem_rows<Activation::none>(weights, words, count, to);
        case Activation::relu:
            return stem_rows<Activation::relu>(weights, words, count, to);
        case Activation::gelu:
            return stem_rows<Activation::gelu>(weights, words, count, to);
    }
}

/// Brings a row near, which is written later if `writes`.
template <bool writes>
void fetch_row(const float* from, std::int64_t row) {
    constexpr std::int64_t line = 16;
    if (from == nullptr) return;
    for (std::int64_t c = 0; c < row; c += line)
        __builtin_prefetch(from + c, writes ? 1 : 0, writes ? 2 : 3);
}

/// The four rows of a pair at the points: B^T x. Those of one point are `apart` from those of the next.
template <bool relu>
void pair_to_points(const float* const* from, std::int64_t dilation, std::int64_t row, std::int64_t apart,
                    float* to) {
    const float *const row0 = from[-dilation], *const row1 = from[0], *const row2 = from[dilation],
                       *const row3 = from[2 * dilation];
    for (std::int64_t c = 0; c < row; c += lanes) {
        Vec x0 = load(row0 + c), x1 = load(row1 + c), x2 = load(row2 + c), x3 = load(row3 + c);
        if constexpr (relu) x0 = rectify(x0), x1 = rectify(x1), x2 = rectify(x2), x3 = rectify(x3);
        store(to + c, x0 - x2);
        store(to + apart + c, x1 + x2);
        store(to + 2 * apart + c, x2 - x1);
        store(to + 3 * apart + c, x1 - x3);
    }
}

/// The end of a layer at one position, from the convolution's sum.
inline void finish(const DilatedLayer& layer, std::int64_t c, Vec sum, const float* x, float* to) {
    if (to == nullptr) return;
    Vec y = sum + load(layer.bias + c);
    if (layer.relu_after) y = rectify(y);
    y += load(x + c);
    store(to + c, layer.relu_last ? rectify(y) : y);
}

void pair_from_points(const DilatedLayer& layer, const float* at, std::int64_t apart,
                      const float* const* from, float* const* to) {
    for (std::int64_t c = 0; c < layer.row; c += lanes) {
        const Vec x0 = load(at + c), x1 = load(at + apart + c), x2 = load(at + 2 * apart + c),
                  x3 = load(at + 3 * apart + c);
        finish(layer, c, x0 + x1 + x2, from[0], to[0]);
        finish(layer, c, x1 - x2 - x3, from[layer.dilation], to[1]);
    }
}

void convolve(const DilatedLayer& layer, const std::int64_t* pairs, std::int64_t count,
              const float* const* from, float* const* to, float* scratch) {
    const std::int64_t row = layer.row, apart = count * row;
    float* const results = scratch + points * apart;
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t tap = -1; tap <= 2 && i + 1 < count; ++tap)
            fetch_row<false>(from[pairs[i + 1] + tap * layer.dilation], row);
        const auto transform = layer.relu_before ? pair_to_points<true> : pair_to_points<false>;
        transform(from + pairs[i], layer.dilation, row, apart, scratch + i * row);
    }
    const float* rows[most_rows];
    float* sums[most_rows];
    for (std::int64_t p = 0; p < points; ++p) {
        for (std::int64_t i = 0; p == points - 1 && i < 2 * count; ++i)
            fetch_row<true>(to[i], row);  // arrives while the last products are computed
        for (std::int64_t i = 0; i < count; ++i) {
            rows[i] = scratch + p * apart + i * row;
            sums[i] = results + p * apart + i * row;
        }
        Product product = layer.product;
        product.weights += p * product.in * product.out;
        multiply(product, rows, count, sums);
    }
    for (std::int64_t i = 0; i < count; ++i)
        pair_from_points(layer, results + i * row, apart, from + pairs[i], to + 2 * i);
}

}  // namespace

}  // namespace bigbird::networks
