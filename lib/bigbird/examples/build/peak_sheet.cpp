// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/peak_sheet.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <optional>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

std::optional<std::size_t> column_of(const std::vector<std::string_view>& header, std::string_view name) {
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - header.begin()));
}

/// Whether a first line is a sheet's header; a BED line has a number in its second column.
bool is_header(const std::string& line) {
    const auto header = rows::split_fields(line, '\t');
    return column_of(header, "name") && column_of(header, "path");
}

std::optional<std::string> sheet_header(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {  // a pipe can be read but once: it holds peaks
        return std::nullopt;
    }
    genome::TextInput input(path);
    std::string line;
    while (input.next(line)) {
        if (is_header(line)) {
            return line;
        }
        if (!line.starts_with('#') && !line.empty()) {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

/// The files that a field names: one, or several separated by commas.
std::vector<fs::path> paths_in(std::string_view field, const fs::path& folder) {
    std::error_code ignored;
    std::vector<fs::path> paths;
    if (fs::exists(folder / field, ignored)) {
        paths.push_back(folder / field);
    } else {
        for (const std::string_view path : rows::split_fields(field, ','))
            paths.push_back(folder / path);
    }
    for (const fs::path& path : paths)
        require_readable(path);
    return paths;
}

std::vector<LabelPeaks> read_sheet(const fs::path& sheet, const std::string& header_line) {
    const auto header = rows::split_fields(header_line, '\t');
    const std::size_t name = *column_of(header, "name"), path = *column_of(header, "path");
    const auto group = column_of(header, "group");
    const std::size_t needed = std::max({name, path, group.value_or(0)}) + 1;
    std::vector<LabelPeaks> labels;
    genome::TextInput input(sheet);
    std::string line;
    while (input.next(line)) {
        if (line.empty() || line.starts_with('#') || line == header_line) {
            continue;
        }
        const auto fields = rows::split_fields(line, '\t');
        const auto fault = [&](const std::string& what) {
            return InputError(what, sheet, input.line_number());
        };
        if (fields.size() < needed || fields[name].empty() || fields[path].empty()) {
            throw fault("a label needs its name and path, separated by tabs as in the header");
        }
        LabelPeaks read{std::string(fields[name]),
                        group && !fields[*group].empty() ? std::string(fields[*group]) : ".",
                        {}};
        try {
            read.paths = paths_in(fields[path], sheet.parent_path());
        } catch (const InputError& error) {
            throw fault(error.what());
        }
        const auto same = std::ranges::find_if(labels, [&](const LabelPeaks& label) {
            return label.name == read.name && label.group == read.group;
        });
        if (same == labels.end()) {
            labels.push_back(std::move(read));
        } else {
            same->paths.insert(same->paths.end(), read.paths.begin(), read.paths.end());
        }
    }
    if (labels.empty()) {
        throw InputError("names no peak files", sheet);
    }
    return labels;
}

std::string label_of(const fs::path& path) {
    fs::path name = path.filename();
    if (name.extension() == ".gz" || name.extension() == ".bgz") {
        name = name.stem();
    }
    return name.has_stem() ? name.stem().string() : name.string();
}

}  // namespace

std::vector<LabelPeaks> read_peak_files(std::span<const fs::path> paths) {
    for (const fs::path& path : paths) {
        require_readable(path);
    }
    if (paths.size() == 1) {
        if (const auto header = sheet_header(paths.front())) {
            return read_sheet(paths.front(), *header);
        }
    }
    std::vector<LabelPeaks> labels;
    for (const fs::path& path : paths) {
        labels.push_back({label_of(path), ".", {path}});
    }
    return labels;
}

}  // namespace bigbird::examples
