// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace bigbird {

/// The bits of the IEEE 754 half-precision number nearest to a value, ties to the even one; infinity from
/// 65,520 on, NaN of NaN.
constexpr std::uint16_t half_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16U & 0x8000U, size = bits & 0x7fffffffU;
    constexpr std::uint32_t infinity = 0x7f800000U, overflow = 0x477ff000U, normal = 0x38800000U,
                            least = 0x33000000U;
    if (size > infinity) return static_cast<std::uint16_t>(sign | 0x7e00U);
    if (size >= overflow) return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (size <= least) return static_cast<std::uint16_t>(sign);  // 2^-25, a tie with 0, and less
    const auto rounded = [](std::uint32_t number, std::uint32_t drop) {
        const std::uint32_t half = 1U << (drop - 1), rest = number & ((1U << drop) - 1),
                            kept = number >> drop;
        return kept + (rest > half || (rest == half && (kept & 1U) == 1U) ? 1U : 0U);
    };
    if (size >= normal) return static_cast<std::uint16_t>(sign | rounded(size - (112U << 23U), 13));
    const std::uint32_t exponent = size >> 23U, fraction = (size & 0x7fffffU) | 0x800000U;
    return static_cast<std::uint16_t>(sign | rounded(fraction, 126U - exponent));
}

}  // namespace bigbird
