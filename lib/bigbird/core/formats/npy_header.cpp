// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/npy_header.hpp"

namespace bigbird {

std::string npy_header(std::string_view type, std::int64_t rows, std::size_t columns) {
    constexpr std::size_t header_bytes = 128;
    std::string header("\x93NUMPY\x01\x00", 8);
    constexpr std::size_t length = header_bytes - 10;  // of what follows it: two bytes, lower one first
    header += static_cast<char>(length & 0xffU);
    header += static_cast<char>(length >> 8U);
    header += "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" +
              std::to_string(rows) + ", " + std::to_string(columns) + "), }";
    header.resize(header_bytes - 1, ' ');
    return header + '\n';
}

}  // namespace bigbird
