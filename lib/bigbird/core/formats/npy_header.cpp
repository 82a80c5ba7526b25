// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/npy_header.hpp"

#include <cstring>

namespace bigbird {

std::string npy_header(std::string_view type, std::int64_t rows, std::size_t columns) {
    return npy_header(type, rows, std::span<const std::size_t>(&columns, 1));
}

std::string npy_header(std::string_view type, std::int64_t rows, std::span<const std::size_t> each) {
    constexpr std::size_t header_bytes = 128;
    std::string header("\x93NUMPY\x01\x00", 8);
    constexpr std::size_t length = header_bytes - 10;  // length of the rest, in two bytes, lower one first
    header += static_cast<char>(length & 0xffU);
    header += static_cast<char>(length >> 8U);
    header +=
        "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" + std::to_string(rows);
    for (const std::size_t size : each)
        header += ", " + std::to_string(size);
    header += "), }";
    header.resize(header_bytes - 1, ' ');
    return header + '\n';
}

bool is_npy_of(std::span<const std::byte> file, std::string_view type, std::int64_t rows,
               std::size_t columns) {
    // The header is a fixed function of the shape, so reading is comparing.
    const std::string header = npy_header(type, rows, columns);
    const auto number_bytes = static_cast<std::size_t>(type.back() - '0');
    std::size_t size = 0;
    return !__builtin_mul_overflow(static_cast<std::size_t>(rows), columns, &size) &&
           !__builtin_mul_overflow(size, number_bytes, &size) &&
           !__builtin_add_overflow(size, header.size(), &size) && file.size() == size &&
           std::memcmp(file.data(), header.data(), header.size()) == 0;
}

}  // namespace bigbird
