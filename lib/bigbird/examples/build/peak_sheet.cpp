// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/peak_sheet.hpp"

#include "bigbird/core/files.hpp"
#include "bigbird/examples/build/sheet.hpp"

#include <algorithm>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

std::vector<LabelPeaks> labels_of(const std::vector<SheetRow>& rows, const fs::path& sheet) {
    std::vector<LabelPeaks> labels;
    for (const SheetRow& row : rows) {
        LabelPeaks read{row.value("name", ""), row.value("group", "."), paths_of(row, sheet)};
        const auto same = std::ranges::find_if(labels, [&](const LabelPeaks& label) {
            return label.name == read.name && label.group == read.group;
        });
        if (same == labels.end())
            labels.push_back(std::move(read));
        else
            same->paths.insert(same->paths.end(), read.paths.begin(), read.paths.end());
    }
    return labels;
}

}  // namespace

std::vector<LabelPeaks> read_peak_files(std::span<const fs::path> paths) {
    for (const fs::path& path : paths)
        require_readable(path);
    if (paths.size() == 1) {
        if (const auto sheet = read_sheet(paths.front())) return labels_of(*sheet, paths.front());
    }
    std::vector<LabelPeaks> labels;
    for (const fs::path& path : paths)
        labels.push_back({name_of_file(path), ".", {path}});
    return labels;
}

}  // namespace bigbird::examples
