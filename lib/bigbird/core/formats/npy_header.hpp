// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bigbird {

/// The header of a NumPy .npy file (format 1.0, C order) of `rows` x `columns` numbers of a `type` such as
/// "<f4" or "|u1". It always takes 128 bytes, so that the number of rows can be filled in at the end.
std::string npy_header(std::string_view type, std::int64_t rows, std::size_t columns);
/// The header of `rows` arrays of the shape `each`.
std::string npy_header(std::string_view type, std::int64_t rows, std::span<const std::size_t> each);

/// Whether a file is exactly npy_header()'s header followed by rows * columns numbers. The digits at the end
/// of `type` are the bytes per number.
bool is_npy_of(std::span<const std::byte> file, std::string_view type, std::int64_t rows,
               std::size_t columns);

}  // namespace bigbird
