// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/outputs/table_schema.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace bigbird::outputs {

inline constexpr std::int64_t most_rows_of_small_hdf5 = 65'536;

/// One HDF5 file: `scores` float32, or float16, (rows, columns), NaN where nothing was scored; `rows/FIELD`,
/// one dataset per head column (UTF-8 strings, int64 with -1, or float64 with NaN, for fields that are not
/// numbers). Also `labels/index`, `group`, `name`, `id` and `column`, and the provenance as attributes of the
/// file. Rows are written in chunks: memory does not grow. The same rows give the same bytes. Up to
/// most_rows_of_small_hdf5 rows, fewer with many columns, make a small file: all datasets are compressed and
/// strings have a fixed length, unless one is longer than 255 bytes. In larger files, only the scores are
/// compressed and strings have any length.
std::unique_ptr<Sink> hdf5_sink(const std::filesystem::path& path, Overwrite overwrite,
                                const TableSchema& schema);

}  // namespace bigbird::outputs
