// SPDX-License-Identifier: Apache-2.0
// The loops of pooling, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/bins/cpu/vector.hpp"

namespace bigbird::bins {

namespace {

/// The softmax over `shape.pool` rows of x, of `count` channels: weight(j) is the weight of row j times
/// `sum`.
struct Softmax {
    const float* x;
    std::int64_t pool, stride, count;
    Vec sharp2, top;  // the sharpness times log2(e), and the greatest of that times x

    Softmax(const PoolShape& shape, const float* rows, const float* sharpness, std::int64_t channels)
        : x(rows),
          pool(shape.pool),
          stride(shape.channels),
          count(channels),
          sharp2(load_some(sharpness, channels) * log2_e),
          top(all(lowest)) {
        for (std::int64_t j = 0; j < pool; ++j)
            top = greater(top, sharp2 * value(j));
    }
    Vec value(std::int64_t j) const { return load_some(x + j * stride, count); }
    Vec weight(Vec value) const { return exp2(sharp2 * value - top); }
};

/// Calls body(output, first channel, channels) for each output and each group of `lanes` channels, or fewer
/// at the end.
template <typename Body>
inline void for_vectors(const PoolShape& shape, const Body& body) {
    for (std::int64_t o = 0; o < shape.outputs; ++o)
        for (std::int64_t c = 0; c < shape.channels; c += lanes)
            body(o, c, shape.channels - c < lanes ? shape.channels - c : lanes);
}

void forward_impl(const PoolShape& shape, const float* x, const float* sharpness, float* y) {
    for_vectors(
        shape,
        [&](std::int64_t o, std::int64_t c, std::int64_t count) {
            const Softmax softmax(shape, x + o * shape.pool * shape.channels + c, sharpness + c, count);
            Vec sum{}, mean{};
            for (std::int64_t j = 0; j < shape.pool; ++j) {
                const Vec value = softmax.value(j), weight = softmax.weight(value);
                sum += weight;
                mean += weight * value;
            }
            store_some(y + o * shape.channels + c, count, mean / sum);
        });
}

void backward_impl(const PoolShape& shape, const float* x, const float* sharpness, const float* dy, float* dx,
                   float* d_sharpness) {
    for_vectors(
        shape,
        [&](std::int64_t o, std::int64_t c, std::int64_t count) {
            const Softmax softmax(shape, x + o * shape.pool * shape.channels + c, sharpness + c, count);
            float* const to = dx + o * shape.pool * shape.channels + c;
            Vec sum{}, mean{};
            for (std::int64_t j = 0; j < shape.pool; ++j) {
                const Vec value = softmax.value(j), weight = softmax.weight(value);
                sum += weight;
                mean += weight * value;
                store_some(to + j * shape.channels, count, weight);
            }
            mean /= sum;
            const Vec slope = load_some(dy + o * shape.channels + c, count) / sum,
                      sharp = load_some(sharpness + c, count);
            Vec d_sharp = load_some(d_sharpness + c, count);
            for (std::int64_t j = 0; j < shape.pool; ++j) {
                const Vec value = softmax.value(j), above = value - mean,
                          part = slope * load_some(to + j * shape.channels, count);
                d_sharp += part * value * above;
                store_some(to + j * shape.channels, count, part * (1.0F + sharp * above));
            }
            store_some(d_sharpness + c, count, d_sharp);
        });
}

}  // namespace

}  // namespace bigbird::bins
