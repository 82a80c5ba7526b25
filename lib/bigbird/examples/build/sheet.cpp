// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sheet.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/build/signals/read_signal.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <array>

namespace bigbird::examples {

namespace fs = std::filesystem;

std::string SheetRow::value(std::string_view column, const std::string& otherwise) const {
    const auto found = values.find(column);
    return found == values.end() || found->second.empty() ? otherwise : found->second;
}

namespace {

constexpr std::array sheet_columns{"name",  "path",      "group",           "assay",      "count",
                                   "shift", "aggregate", "strand_pair",     "scale",      "soft_clip",
                                   "clip",  "min_mapq",  "keep_duplicates", "description"};

/// With small letters, and tabs for other separators, quotes and blanks.
std::string plain(std::string_view text) {
    std::string result = lower_case(std::string(text));
    std::ranges::replace_if(
        result, [](char letter) { return std::string_view(",;\" ").find(letter) < 4; }, '\t');
    return result;
}

/// Throws for a line that would be a header with small letters, and tabs between its columns.
void refuse_other_header(const genome::TextInput& input, const std::string& line) {
    const std::string text = plain(line);
    const auto fields = rows::split_fields(text, '\t');
    const auto has = [&](std::string_view name) { return std::ranges::count(fields, name) > 0; };
    if (!has("name") || !has("path")) return;
    throw input.fault("has the header '" + shortened(line) +
                      "': a sheet has tabs, and no blanks, between its columns, called name, path ... in "
                      "small letters");
}

/// Throws for two columns of one name, and for nearly known names; warns of others that are not read.
void check_columns(const genome::TextInput& input, const std::vector<std::string>& header) {
    for (const std::string& column : header) {
        if (column.empty()) continue;
        const std::string what = "'" + shortened(column) + "'";
        if (std::ranges::count(header, column) > 1) throw input.fault("has two columns " + what);
        if (std::ranges::count(sheet_columns, column) > 0) continue;
        const auto near = std::ranges::find_if(
            sheet_columns, [&](const char* known) { return rows::edit_distance(plain(column), known) <= 1; });
        if (near != sheet_columns.end())
            throw input.fault("has the column " + what + "; did you mean " + *near + "?");
        log_warning("{}: the column {} is not read; known are {}", input.path().string(), what,
                    listed(sheet_columns, ""));
    }
}

}  // namespace

std::optional<std::vector<SheetRow>> read_sheet(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return std::nullopt;
    genome::TextInput input(path);
    std::vector<std::string> header;
    std::vector<SheetRow> rows;
    std::string line;
    while (input.next(line)) {
        const std::string whole = line;  // its quotes go
        const auto split = rows::split_quoted(line, '\t');
        if (!split && !header.empty()) throw input.fault("has a quote that does not end on the line");
        const std::vector<std::string_view> fields = split.value_or(std::vector<std::string_view>());
        const auto has = [&](std::string_view name) { return std::ranges::count(fields, name) > 0; };
        if (header.empty() && has("name") && has("path")) {
            header.assign(fields.begin(), fields.end());
            check_columns(input, header);
            continue;
        }
        if (line.empty() || line.starts_with('#')) continue;
        if (header.empty()) {
            refuse_other_header(input, whole);
            return std::nullopt;
        }
        SheetRow row{.line = input.line_number()};
        for (std::size_t i = 0; i < std::min(fields.size(), header.size()); ++i)
            row.values.emplace(header[i], fields[i]);
        if (rows::is_missing(row.value("name", "")) || rows::is_missing(row.value("path", "")))
            throw InputError("needs a name and a path, separated by tabs as in the header", path, row.line);
        if (const std::string group = row.value("group", "."); rows::is_missing(group))
            throw input.fault("has '" + group +
                              "', a missing value, as its group: leave the field empty for none");
        rows.push_back(std::move(row));
    }
    if (header.empty()) return std::nullopt;
    if (rows.empty()) throw InputError("names no files", path);
    return rows;
}

std::vector<fs::path> paths_of(const SheetRow& row, const fs::path& sheet) {
    const std::string field = row.value("path", "");
    std::error_code ignored;
    std::vector<fs::path> paths;
    if (fs::exists(sheet.parent_path() / field, ignored))
        paths.push_back(sheet.parent_path() / field);
    else
        for (const std::string_view path : rows::split_fields(field, ','))
            paths.push_back(sheet.parent_path() / path);
    try {
        for (const fs::path& path : paths)
            require_readable(path);
    } catch (const InputError& error) {
        throw InputError(error.what(), sheet, row.line);
    }
    return paths;
}

namespace {

std::vector<LabelFiles> labels_of(const std::vector<SheetRow>& rows, const fs::path& sheet) {
    std::vector<LabelFiles> labels;
    for (const SheetRow& row : rows) {
        const std::string name = row.value("name", ""), group = row.value("group", ".");
        auto label = std::ranges::find_if(
            labels, [&](const LabelFiles& one) { return one.name == name && one.group == group; });
        if (label == labels.end()) label = labels.insert(labels.end(), {.name = name, .group = group});
        for (const fs::path& path : paths_of(row, sheet))
            label->paths.push_back(path);
        label->rows.push_back(row);
    }
    return labels;
}

}  // namespace

std::vector<std::string> names_of_files(std::span<const fs::path> paths, const std::string& remedy) {
    std::vector<std::string> names;
    for (const fs::path& path : paths) {
        names.push_back(name_of_content(path.filename().string()));
        const auto other = static_cast<std::size_t>(std::ranges::find(names, names.back()) - names.begin());
        if (other + 1 < names.size()) {
            throw ConfigError(paths[other].string() + " and " + path.string() + " are both called '" +
                              names.back() + "': rename one or " + remedy);
        }
    }
    return names;
}

std::vector<LabelFiles> read_label_files(std::span<const fs::path> paths) {
    for (const fs::path& path : paths)
        require_readable(path);
    if (paths.size() == 1 && !is_binary_signal(paths.front())) {
        if (const auto sheet = read_sheet(paths.front())) return labels_of(*sheet, paths.front());
    }
    std::vector<LabelFiles> labels;
    const auto names = names_of_files(paths, "give a sheet with the columns name and path");
    for (std::size_t i = 0; i < paths.size(); ++i)
        labels.push_back({.name = names[i], .paths = {paths[i]}, .rows = {SheetRow()}});
    return labels;
}

}  // namespace bigbird::examples
