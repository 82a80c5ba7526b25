// SPDX-License-Identifier: Apache-2.0
// Score tables: one line per scored region, one column per label. `##key=value` lines first, then
// `#chrom start end name score strand status n_fraction` and the labels' column names, tab-separated; absent
// fields are `.`, missing scores are `NA`. outputs/table_sink writes them. As CSV (RFC 4180), a table has
// commas, no `##` lines, a header without #, and empty fields instead of `.` and `NA`.
#pragma once

#include "bigbird/genome/text/text_input.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::rows {

/// The fields before the scores of a line, as text, because tables may come from other programs.
struct ScoreRow {
    std::string contig, begin, end, name = ".", score = ".", strand = ".", status = "ok";
    double n_fraction = 0;  ///< NaN: NA
};

/// ("model", "sha256…"), … in the order given; written as `##model=sha256…`.
using Provenance = std::vector<std::pair<std::string, std::string>>;
/// Replaces tabs and line breaks by blanks, so that a text is one field.
std::string without_breaks(std::string text);
/// The `##key=value` lines, with tabs and line breaks replaced by blanks.
std::string provenance_lines(const Provenance& provenance);
/// The first value of a key; empty if there is none.
std::string value_of(const Provenance& provenance, std::string_view key);

/// Whether a file's name is a CSV's: .csv, or .csv.gz.
bool names_csv(const std::filesystem::path& path);
/// Converts a line of a table to CSV. `header`: keeps every field, and removes #.
std::string csv_line(std::string_view line, bool header = false);
/// Converts a table, or its first lines, to CSV. Its `##` lines are logged with `path`.
std::string csv_of(std::string_view table, const std::filesystem::path& path);

/// Reads a table, as CSV or with tabs, plain, gzip, bgzip or "-". Empty fields are `.` and NA. Throws
/// InputError with file and line. Not thread-safe.
class ScoreReader {
public:
    explicit ScoreReader(const std::filesystem::path& path);

    const std::vector<std::string>& columns() const { return columns_; }
    const Provenance& provenance() const { return provenance_; }
    /// False at the end. `values` gets one element per column, NaN for NA.
    bool next(ScoreRow& row, std::vector<float>& values);
    std::int64_t line_number() const { return input_.line_number(); }

private:
    genome::TextInput input_;
    bool csv_ = false;
    std::string line_;
    std::vector<std::string_view> fields_;  ///< of line_
    std::vector<std::string> columns_;
    Provenance provenance_;
};

}  // namespace bigbird::rows
