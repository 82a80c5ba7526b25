// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/outputs/table_schema.hpp"

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// X.npy: float32 (or float16, by schema.precision) of shape (rows, columns), NaN where nothing was scored;
/// X.rows.tsv: the rows' fields; X.labels.tsv: `column index group name id`. Side tables come first, so that
/// X.npy is never without them.
std::unique_ptr<Sink> npy_sink(const std::filesystem::path& path, Overwrite overwrite,
                               const TableSchema& schema);

/// numpy's name of the number type: "<f4" or "<f2".
std::string_view npy_type(Precision precision);

/// The three files of an output X.npy.
std::vector<std::filesystem::path> npy_files(const std::filesystem::path& path);

}  // namespace bigbird::outputs
