// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace bigbird::outputs {

/// A NumPy .npz file with one array, arr_0, whose rows come one after another. Not compressed, at most 4 GB.
class NpzArray {
public:
    /// Numbers of a `type` such as "<f4"; a row has the shape `each`, which is told with the first row.
    NpzArray(const std::filesystem::path& path, Overwrite overwrite, std::string type);

    /// Throws WriteError: the disk is full, or the file would be longer than 4 GB.
    void add(std::span<const std::byte> row, std::span<const std::size_t> each);
    PendingOutput* finish();

private:
    void require(bool fine, const char* why) const;

    PendingOutput pending_;
    std::ofstream out_;
    std::string type_;
    std::vector<std::size_t> each_;
    std::int64_t rows_ = 0, bytes_ = 0;
    std::uint32_t checksum_ = 0;  ///< CRC-32 of the rows
};

}  // namespace bigbird::outputs
