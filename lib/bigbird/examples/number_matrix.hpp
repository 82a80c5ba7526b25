// SPDX-License-Identifier: Apache-2.0
// A matrix of float32 as NumPy's .npy (format 1.0, C order): np.load(path).
#pragma once

#include "bigbird/core/formats/mapped_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace bigbird::examples {

/// Writes `values`, in row-major order, directly to `path`: give a path inside a PendingOutput. Throws
/// WriteError.
void write_npy(const std::filesystem::path& path, std::span<const float> values, std::size_t columns);

/// Reads from mapped memory. Const calls are thread-safe.
class NumberMatrix {
public:
    /// Throws InputError if the file is missing, no such .npy, not rows x columns, or holds NaN or an
    /// infinity.
    NumberMatrix(const std::filesystem::path& path, std::int64_t rows, std::size_t columns);

    std::span<const float> row(std::int64_t row) const {
        return values_.subspan(static_cast<std::size_t>(row) * columns_, columns_);
    }

private:
    MappedFile file_;
    std::span<const float> values_;
    std::size_t columns_;
};

}  // namespace bigbird::examples
