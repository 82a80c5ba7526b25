// SPDX-License-Identifier: Apache-2.0
// Score tables: one line a scored region, one column a label. `##key=value` lines first, then
// `#chrom start end name score strand status n_fraction` and the labels' column names, tab-separated; absent
// fields are `.`, what was not scored is `NA`.
#pragma once

#include "bigbird/core/files.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::rows {

/// What stands before the scores, the first six columns as text, as the input has them.
struct ScoreRow {
    std::string contig, begin, end, name = ".", score = ".", strand = ".", status = "ok";
    double n_fraction = 0;  ///< NaN: NA
};

/// ("model", "sha256…"), … in the order given; written as `##model=sha256…`.
using Provenance = std::vector<std::pair<std::string, std::string>>;
/// The `##key=value` lines, tabs and line breaks made blanks.
std::string provenance_lines(const Provenance& provenance);
/// The first value of a key; empty where there is none.
std::string value_of(const Provenance& provenance, std::string_view key);

/// The columns that stand before the scores of regions.
inline constexpr std::array<const char*, 8> region_columns{"chrom", "start",  "end",    "name",
                                                           "score", "strand", "status", "n_fraction"};
/// A row's fields in that order, as a table spells them.
std::vector<std::string> head_fields(const ScoreRow& row);

/// Writes a table: bgzip where the name ends in .gz, plain else, "-" standard output. Not thread-safe.
class ScoreWriter {
public:
    ScoreWriter(const std::filesystem::path& path, Overwrite overwrite, std::vector<std::string> columns,
                const Provenance& provenance, int threads = 1);
    /// A table of the same form whose rows are no regions: `head` names what stands before the scores.
    ScoreWriter(const std::filesystem::path& path, Overwrite overwrite, std::vector<std::string> head,
                std::vector<std::string> columns, const Provenance& provenance, int threads);
    ~ScoreWriter();

    /// `values` has one score a column, or none for a row that was not scored. Each is written with the
    /// fewest digits, at least six significant ones where it has them, that read back as the same float; NaN
    /// as NA.
    void write(const ScoreRow& row, std::span<const float> values);
    /// The same with the fields as they are written, one for each column of the head.
    void write(std::span<const std::string> head, std::span<const float> values);
    /// Puts the whole table in place. Throws WriteError.
    void commit();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Reads a table, plain, gzip, bgzip or "-". Throws InputError with file and line. Not thread-safe.
class ScoreReader {
public:
    explicit ScoreReader(const std::filesystem::path& path);
    ~ScoreReader();

    const std::vector<std::string>& columns() const;
    const Provenance& provenance() const;
    /// False at the end. `values` gets one element a column, NaN for NA.
    bool next(ScoreRow& row, std::vector<float>& values);
    std::int64_t line_number() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::rows
