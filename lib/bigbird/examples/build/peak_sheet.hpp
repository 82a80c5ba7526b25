// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// The files whose peaks together make one label.
struct LabelPeaks {
    std::string name, group;
    std::vector<std::filesystem::path> paths;
};

/// Reads which peak files make which label, in the labels' order: from one sheet, or from BED files. A sheet
/// is tab-separated. Its header names at least the columns `name` and `path` (relative to the sheet), and
/// optionally `group`. Other columns and lines that begin with # are ignored. Rows of one name and group make
/// one label, and a path may be several, separated by commas. A BED file's label is its file name without .gz
/// and the suffix before it; its group is ".". Throws InputError with file and line, also if a file is
/// missing.
std::vector<LabelPeaks> read_peak_files(std::span<const std::filesystem::path> paths);

}  // namespace bigbird::examples
