// SPDX-License-Identifier: Apache-2.0
// Score tables: one line per scored region, one column per label. `##key=value` lines first, then
// `#chrom start end name score strand status n_fraction` and the labels' column names, tab-separated; absent
// fields are `.`, missing scores are `NA`. outputs/table_sink writes them. As CSV (RFC 4180), a table has
// commas, no `##` lines, a header without #, and empty fields instead of missing numbers, scores and strands.
// Texts are the same in both: a contig, name or class may be called `NA` or `.`.
#pragma once

#include "bigbird/genome/text/text_input.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
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
/// Converts a table of figures, or the header of any table, to CSV. Its `##` lines are logged with `path`.
/// The first columns, as far as they are called index, group, name, label, figure or of, are texts, the
/// others numbers, whose NA becomes empty.
std::string csv_of(std::string_view table, const std::filesystem::path& path);

/// Gives the lines of a table that is in no text file (outputs::score_lines); false at the end.
using LineSource = std::function<bool(std::string& line)>;

/// Reads the lines of a table with a header, as CSV or with tabs, as this program, pandas or R write it.
/// Fields with tabs are taken out of quotes if the header has some. Throws InputError with file and line:
/// another format of scores, a column of row numbers, a line with more or fewer fields than the header, a cut
/// file. Not thread-safe.
class ScoreLines {
public:
    /// `source`: gives the lines of `path`; empty: it is a text file.
    explicit ScoreLines(const std::filesystem::path& path, LineSource source = {});

    const std::vector<std::string>& header() const { return header_; }  ///< without #
    const Provenance& provenance() const { return provenance_; }
    /// False at the end. Empty lines are skipped.
    bool next();
    /// The line's fields, one per column of the header, until the next call of next().
    const std::vector<std::string_view>& fields() const { return fields_; }
    /// The number in a column, NaN where it is missing. Throws InputError.
    float score(std::size_t column) const;
    std::int64_t line_number() const { return number_; }  ///< 0: the file has no lines
    /// What is wrong with the line last read.
    InputError fault(const std::string& what) const { return {what, path_, number_}; }

private:
    bool read();
    void split();

    std::filesystem::path path_;
    bool is_text_;
    LineSource source_;
    std::int64_t number_ = 0;
    char separator_ = '\t';
    bool quoted_ = false;  ///< whether fields may be in quotes
    std::string line_;
    std::vector<std::string_view> fields_;  ///< of line_
    std::vector<std::string> header_;
    Provenance provenance_;
};

/// Reads a table, as CSV or with tabs, plain, gzip, bgzip or "-". Empty fields are `.` and NA, as are numbers
/// that pandas and R write as missing. Throws InputError with file and line. Not thread-safe.
class ScoreReader {
public:
    explicit ScoreReader(const std::filesystem::path& path, LineSource source = {});

    const std::vector<std::string>& columns() const { return columns_; }
    const Provenance& provenance() const { return lines_.provenance(); }
    /// False at the end. `values` gets one element per column, NaN for NA.
    bool next(ScoreRow& row, std::vector<float>& values);
    std::int64_t line_number() const { return lines_.line_number(); }

private:
    ScoreLines lines_;
    std::vector<std::string> columns_;
};

}  // namespace bigbird::rows
