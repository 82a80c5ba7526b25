// SPDX-License-Identifier: Apache-2.0
// Score tables (rows/score_table.hpp): only here is a row turned into text.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/outputs/table_schema.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// One line per row, one column per label; CSV and bgzip by suffix, "-" is standard output. A score is
/// written with the fewest digits that read back as the same float, NaN as NA.
std::unique_ptr<Sink> table_sink(const std::filesystem::path& path, Overwrite overwrite,
                                 const TableSchema& schema, int threads);

/// Appends fields as a table has them, each followed by a tab: integers in decimal, other numbers with the
/// fewest digits that read back as the same, NaN as NA, no text as ".".
void append_fields(std::string& line, std::span<const rows::Field> fields);

/// A table with one line for each row and label whose score is at least `min_score`: the row's fields, then
/// `index group label value`. Rows that were not scored have no line.
std::unique_ptr<Sink> long_sink(const std::filesystem::path& path, Overwrite overwrite,
                                const TableSchema& schema, float min_score, int threads);

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
