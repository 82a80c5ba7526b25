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
/// The same of `rows` arrays of the shape `each`.
std::string npy_header(std::string_view type, std::int64_t rows, std::span<const std::size_t> each);

/// Whether a file is what npy_header() tells of: it begins with that very header, and so many numbers stand
/// behind it, each of the bytes that the figure at the end of `type` says, and nothing else.
bool is_npy_of(std::span<const std::byte> file, std::string_view type, std::int64_t rows,
               std::size_t columns);

}  // namespace bigbird
