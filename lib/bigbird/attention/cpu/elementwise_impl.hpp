// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/cpu/vector.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace {

struct FloatMemory {
    using Element = float;
    static Vec::Float load(const Element* p) { return Vec::load(p); }
    static void store(Element* p, Vec::Float x) { Vec::store(p, x); }
};

struct HalfMemory {
    using Element = std::uint16_t;
    static Vec::Float load(const Element* p) { return Vec::load_bf16(p); }
    static void store(Element* p, Vec::Float x) { Vec::store_bf16(p, x); }
};

/// Calls body(offset) for full vectors, and rest(offset, count) for the remainder.
template <typename Body, typename Rest>
void for_vectors(std::int64_t count, Body&& body, Rest&& rest) {
    std::int64_t i = 0;
    for (; i + Vec::lanes <= count; i += Vec::lanes)
        body(i);
    if (i < count) rest(i, count - i);
}

/// A vector with the first `count` elements of `x`; the other lanes are -infinity.
template <typename Memory>
Vec::Float load_some(const typename Memory::Element* x, std::int64_t count) {
    float none[Vec::lanes];
    Vec::store(none, Vec::set(-std::numeric_limits<float>::infinity()));
    typename Memory::Element some[Vec::lanes];
    Memory::store(some, Vec::load(none));
    std::memcpy(some, x, static_cast<std::size_t>(count) * sizeof(some[0]));
    return Memory::load(some);
}

/// Writes op() of the vectors of each input; the output may be an input.
template <typename Memory, typename Op, typename... Inputs>
void map_elements(void* to, std::int64_t count, const Op& op, const Inputs*... from) {
    using Element = typename Memory::Element;
    auto* const y = static_cast<Element*>(to);
    for_vectors(
        count,
        [&](std::int64_t i) {
            Memory::store(y + i, op(Memory::load(static_cast<const Element*>(from) + i)...));
        },
        [&](std::int64_t i, std::int64_t left) {
            Element some[Vec::lanes];
            Memory::store(some, op(load_some<Memory>(static_cast<const Element*>(from) + i, left)...));
            std::memcpy(y + i, some, static_cast<std::size_t>(left) * sizeof(Element));
        });
}

/// sigma(2 sqrt(2 / pi) (x + 0.044715 x^3)): GELU is x times it.
template <bool coarse>
Vec::Float gelu_gate(Vec::Float x) {
    // -2 sqrt(2 / pi) log2 e, and that times 0.044715
    const Vec::Float linear = Vec::set(-2.302208198F), cubic = Vec::set(-0.1029432397F);
    const Vec::Float power = Vec::mul(x, Vec::fma(cubic, Vec::mul(x, x), linear));
    return Vec::div(Vec::set(1), Vec::add(Vec::set(1), exp2<coarse>(Vec::min(Vec::set(126), power))));
}

template <typename Memory, bool coarse>
void gelu_tanh(const void* x, void* y, std::int64_t count) {
    map_elements<Memory>(
        y, count, [](Vec::Float value) { return Vec::mul(value, gelu_gate<coarse>(value)); }, x);
}

template <typename Memory, bool coarse>
void gelu_tanh_backward(const void* dy, const void* x, void* dx, std::int64_t count) {
    const auto one = [](Vec::Float d_value, Vec::Float value) {
        const Vec::Float gate = gelu_gate<coarse>(value);
        // (g + x g (1 - g) 2 sqrt(2 / pi) (1 + 3 * 0.044715 x^2)) dy
        const Vec::Float inner =
            Vec::fma(Vec::set(0.2140644488F), Vec::mul(value, value), Vec::set(1.595769122F));
        const Vec::Float slope = Vec::mul(Vec::mul(value, Vec::sub(Vec::set(1), gate)), inner);
        return Vec::mul(d_value, Vec::fma(gate, slope, gate));
    };
    map_elements<Memory>(dx, count, one, dy, x);
}

template <typename Memory>
float value_of(const typename Memory::Element* x) {
    return Vec::largest(load_some<Memory>(x, 1));
}

/// -infinity for none.
template <typename Memory>
float greatest(const typename Memory::Element* x, std::int64_t count) {
    Vec::Float top = Vec::set(-std::numeric_limits<float>::infinity());
    for_vectors(
        count, [&](std::int64_t i) { top = Vec::max(top, Memory::load(x + i)); },
        [&](std::int64_t i, std::int64_t left) { top = Vec::max(top, load_some<Memory>(x + i, left)); });
    return Vec::largest(top);
}

template <bool coarse>
Vec::Float power_of_e(Vec::Float x) {
    return exp2<coarse>(Vec::mul(x, Vec::set(1.4426950408889634F)));
}

/// The sum of e^(x - top).
template <typename Memory, bool coarse>
float sum_of_powers(const typename Memory::Element* x, std::int64_t count, float top) {
    Vec::Float total = Vec::set(0);
    const auto add = [&](Vec::Float value) {
        total = Vec::add(total, power_of_e<coarse>(Vec::sub(value, Vec::set(top))));
    };
    for_vectors(
        count, [&](std::int64_t i) { add(Memory::load(x + i)); },
        [&](std::int64_t i, std::int64_t left) { add(load_some<Memory>(x + i, left)); });
    return Vec::sum(total);
}

template <typename Memory, bool coarse>
bigbird::attention::RowLoss softmax_gradient(void* logits, std::int64_t count, std::int64_t label,
                                             bool differentiate) {
    using Element = typename Memory::Element;
    auto* const x = static_cast<Element*>(logits);
    const float own = value_of<Memory>(x + label), before = greatest<Memory>(x, label),
                behind = greatest<Memory>(x + label, count - label), top = before > behind ? before : behind;
    const float lse = top + std::log(sum_of_powers<Memory, coarse>(x, count, top));
    const bigbird::attention::RowLoss loss{lse - own, own > before && own >= behind};
    if (!differentiate) return loss;
    const auto softmax = [&](Vec::Float value) { return power_of_e<coarse>(Vec::sub(value, Vec::set(lse))); };
    map_elements<Memory>(logits, count, softmax, logits);
    float one[Vec::lanes] = {std::exp(own - lse) - 1};
    Element rounded[Vec::lanes];
    Memory::store(rounded, Vec::load(one));
    x[label] = rounded[0];
    return loss;
}

constexpr bigbird::attention::ElementwiseKernels elementwise_of_this_set{
    [](const void* x, void* y, std::int64_t count, bool bf16) {
        bf16 ? gelu_tanh<HalfMemory, true>(x, y, count) : gelu_tanh<FloatMemory, false>(x, y, count);
    },
    [](const void* dy, const void* x, void* dx, std::int64_t count, bool bf16) {
        bf16 ? gelu_tanh_backward<HalfMemory, true>(dy, x, dx, count)
             : gelu_tanh_backward<FloatMemory, false>(dy, x, dx, count);
    },
    [](void* logits, std::int64_t count, std::int64_t label, bool differentiate, bool bf16) {
        return bf16 ? softmax_gradient<HalfMemory, true>(logits, count, label, differentiate)
                    : softmax_gradient<FloatMemory, false>(logits, count, label, differentiate);
    }};

}  // namespace
