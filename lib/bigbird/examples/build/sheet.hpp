// SPDX-License-Identifier: Apache-2.0
// Sheets of files: tab-separated, with a header that names at least the columns `name` and `path`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

struct SheetRow {
    std::map<std::string, std::string, std::less<>> values{};  ///< by column; `name` and `path` are not empty
    std::int64_t line = 0;                                     ///< from 1

    /// The value of a column that may be missing or empty.
    std::string value(std::string_view column, const std::string& otherwise) const;
};

/// Returns the rows of a sheet, without quotes. Returns nullopt for a pipe, which can be read only once, and
/// if the first line that is neither empty nor begins with # is not a header. Throws InputError with file and
/// line, also for nearly known columns and for a header with other separators or in capitals.
std::optional<std::vector<SheetRow>> read_sheet(const std::filesystem::path& path);

/// The files that a row's `path` names, relative to the sheet: one, or several separated by commas. Throws
/// InputError with file and line where one cannot be read.
std::vector<std::filesystem::path> paths_of(const SheetRow& row, const std::filesystem::path& sheet);

/// The files whose data together make one label or track.
struct LabelFiles {
    std::string name, group = ".";
    std::vector<std::filesystem::path> paths{};
    std::vector<SheetRow> rows{};  ///< of the sheet; an empty one for a file without a sheet
};

/// The names of the classes, labels or tracks of files, in their order: file names without known endings.
/// Throws ConfigError, with both files and `remedy`, where two are alike.
std::vector<std::string> names_of_files(std::span<const std::filesystem::path> paths,
                                        const std::string& remedy);

/// Reads which files make which label, in the labels' order: from one sheet, or from data files. A sheet is
/// tab-separated. Its header names at least the columns `name` and `path` (relative to the sheet), and
/// optionally `group`. Lines that begin with # are ignored. Rows of one name and group make one label, and a
/// path may be several, separated by commas. A data file's label is its name as above; its group is ".".
/// Throws InputError with file and line, also if a file is missing.
std::vector<LabelFiles> read_label_files(std::span<const std::filesystem::path> paths);

}  // namespace bigbird::examples
