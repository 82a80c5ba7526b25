// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bigbird::networks {

static_assert(std::endian::native == std::endian::little);

/// The number at a place, which must be within `bytes`.
template <typename Number>
Number little_endian(std::span<const std::byte> bytes, std::uint64_t at) {
    Number number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

}  // namespace bigbird::networks
