// SPDX-License-Identifier: Apache-2.0
// The loops of the first stage, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/bins/cpu/vector.hpp"

namespace bigbird::bins {

namespace {

/// The filters' values at the bases of one output: (pool, strands). Words are added in pairs from both ends,
/// so that a base and its complement on the other strand have the same value, to the last bit.
template <int strands>
inline void find(const FirstShape& shape, std::int64_t pool, const std::uint16_t* words, const float* table,
                 Vec bias, Vec* found) {
    for (std::int64_t i = 0; i < pool * strands; ++i)
        found[i] = bias;
    const auto value = [&](std::int64_t k, std::int64_t i) {
        return load(table + k * words_in_all * strands * lanes + words[k * word_letters + i / strands] +
                    i % strands * lanes);
    };
    const std::int64_t last = shape.chunks - 1;
    for (std::int64_t k = 0; k < shape.chunks / 2; ++k)
        for (std::int64_t i = 0; i < pool * strands; ++i)
            found[i] += value(k, i) + value(last - k, i);
    if (shape.chunks % 2 == 1)
        for (std::int64_t i = 0; i < pool * strands; ++i)
            found[i] += value(last / 2, i);
}

/// The softmax of sharp2 * x, where sharp2 is the sharpness times log2(e): weights that are not divided by
/// their sum, and the mean of x.
struct Pooled {
    Vec mean, scale;  // scale: 1 / the sum of the weights
};
inline Pooled pool_values(const Vec* x, std::int64_t count, Vec sharp2, Vec* weight) {
    Vec top = all(lowest);
    for (std::int64_t i = 0; i < count; ++i)
        top = greater(top, sharp2 * x[i]);
    for (std::int64_t i = 0; i < count; ++i)
        weight[i] = exp2(sharp2 * x[i] - top);
    // Each half from its end, so that the other strand's values, which come back to front, give the same
    // bits.
    Vec sum{}, mean{}, other_sum{}, other_mean{};
    for (std::int64_t i = 0, j = count - 1; i <= j; ++i, --j) {
        sum += weight[i];
        mean += weight[i] * x[i];
        if (i == j) break;
        other_sum += weight[j];
        other_mean += weight[j] * x[j];
    }
    const Vec scale = 1.0F / (sum + other_sum);
    return {(mean + other_mean) * scale, scale};
}

inline Vec greatest(const Vec* x, std::int64_t count, Vec most) {
    for (std::int64_t i = 0; i < count; ++i)
        most = greater(most, x[i]);
    return most;
}

/// `fixed`: the pool if the compiler knows it, or 0.
template <int strands, int fixed>
constexpr int most_values = strands*(fixed > 0 ? fixed : int{most_pool});

template <int strands, int fixed>
void first_forward(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
                   const FirstOutputs& to) {
    const std::int64_t pool = fixed > 0 ? fixed : shape.pool, count = pool * strands;
    const Vec bias = load(weights.bias), sharp2 = load(weights.sharpness) * log2_e;
    Vec x[most_values<strands, fixed>], weight[most_values<strands, fixed>];
    Vec best = all(lowest);
    for (std::int64_t o = 0; o < shape.outputs; ++o) {
        find<strands>(shape, pool, words + o * pool, weights.table, bias, x);
        if (to.sites != nullptr) {
            best = greatest(x, count, best);
            if ((o + 1) % shape.outputs_of_site == 0) {
                store(to.sites + o / shape.outputs_of_site * shape.site_stride, best);
                best = all(lowest);
            }
        }
        for (std::int64_t i = 0; i < count; ++i)
            x[i] *= gelu_gate(x[i]);
        store(to.y + o * shape.stride, pool_values(x, count, sharp2, weight).mean);
    }
}

/// The maximum over the bases of one site, and the share of its gradient that each base with the maximum
/// gets.
struct Site {
    Vec best, share;
};
template <int strands>
Site site_of(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
             const float* gradient) {
    const Vec bias = load(weights.bias);
    Site site{all(lowest), {}};
    Vec times{}, x[most_values<strands, 1>];
    for (std::int64_t base = 0; base < shape.outputs_of_site * shape.pool; ++base) {
        find<strands>(shape, 1, words + base, weights.table, bias, x);
        for (int s = 0; s < strands; ++s) {
            times = x[s] > site.best ? all(1.0F) : x[s] == site.best ? times + 1.0F : times;
            site.best = greater(site.best, x[s]);
        }
    }
    site.share = load(gradient) / times;
    return site;
}

/// Adds the gradients of the filters' values at some bases to the table rows that they sum, word by word of
/// the filter: one word's rows stay in the first cache.
template <int strands>
inline void add_to_rows(const FirstShape& shape, std::int64_t bases, const std::uint16_t* words,
                        const Vec* gradient, float* table) {
    for (std::int64_t k = 0; k < shape.chunks; ++k) {
        float* const rows = table + k * words_in_all * strands * lanes;
        const std::uint16_t* const word = words + k * word_letters;
        for (std::int64_t base = 0; base < bases; ++base) {
            float* const row = rows + word[base];
            for (int s = 0; s < strands; ++s)
                store(row + s * lanes, load(row + s * lanes) + gradient[base * strands + s]);
        }
    }
}

/// Sums of the gradients of one channel group.
struct Sums {
    Vec bias{}, sharpness{};
};

/// Overwrites the filters' values at the bases of one output by their gradients.
inline void output_backward(Vec* found, std::int64_t count, Vec sharp, Vec dy, const Site& site, Sums& sums) {
    Vec gate[2 * most_pool], x[2 * most_pool], weight[2 * most_pool];
    for (std::int64_t i = 0; i < count; ++i) {
        gate[i] = gelu_gate(found[i]);
        x[i] = found[i] * gate[i];
    }
    const Pooled pooled = pool_values(x, count, sharp * log2_e, weight);
    dy *= pooled.scale;
    for (std::int64_t i = 0; i < count; ++i) {
        const Vec above = x[i] - pooled.mean, by_weight = dy * weight[i];
        sums.sharpness += by_weight * x[i] * above;
        found[i] = by_weight * (1.0F + sharp * above) * gelu_slope(found[i], gate[i]) +
                   (found[i] == site.best ? site.share : Vec{});
        sums.bias += found[i];
    }
}

template <int strands, int fixed>
void first_backward(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
                    const FirstGradients& gradients) {
    constexpr int strip = 128;  // bases whose values fit the first cache
    const std::int64_t pool = fixed > 0 ? fixed : shape.pool, count = pool * strands, outputs = strip / pool;
    const Vec bias = load(weights.bias), sharp = load(weights.sharpness);
    Vec found[most_values<strands, strip>];
    Site site{all(-lowest), {}};  // which nothing finds
    Sums sums;
    for (std::int64_t first = 0; first < shape.outputs; first += outputs) {
        const std::int64_t last = first + outputs < shape.outputs ? first + outputs : shape.outputs;
        for (std::int64_t o = first; o < last; ++o) {
            const std::uint16_t* const here = words + o * pool;
            if (gradients.sites != nullptr && o % shape.outputs_of_site == 0) {
                site = site_of<strands>(shape, here, weights,
                                        gradients.sites + o / shape.outputs_of_site * shape.site_stride);
            }
            Vec* const mine = found + (o - first) * count;
            find<strands>(shape, pool, here, weights.table, bias, mine);
            output_backward(mine, count, sharp, load(gradients.y + o * shape.stride), site, sums);
        }
        add_to_rows<strands>(shape, (last - first) * pool, words + first * pool, found, gradients.table);
    }
    store(gradients.bias, load(gradients.bias) + sums.bias);
    store(gradients.sharpness, load(gradients.sharpness) + sums.sharpness);
}

/// Calls run<strands, pool>(), where the pool is 0 unless there are kernels for it.
template <typename Run>
void for_shape(const FirstShape& shape, const Run& run) {
    if (shape.strands == 2 && shape.pool == 4)
        run.template operator()<2, 4>();
    else if (shape.strands == 2)
        run.template operator()<2, 0>();
    else if (shape.pool == 4)
        run.template operator()<1, 4>();
    else
        run.template operator()<1, 0>();
}

void forward_first(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
                   const FirstOutputs& to) {
    for_shape(
        shape, [&]<int strands, int pool>() { first_forward<strands, pool>(shape, words, weights, to); });
}

void backward_first(const FirstShape& shape, const std::uint16_t* words, const FirstWeights& weights,
                    const FirstGradients& gradients) {
    for_shape(
        shape,
        [&]<int strands, int pool>() { first_backward<strands, pool>(shape, words, weights, gradients); });
}

}  // namespace

}  // namespace bigbird::bins
