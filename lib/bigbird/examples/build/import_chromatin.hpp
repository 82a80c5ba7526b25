// SPDX-License-Identifier: Apache-2.0
// Makes chromatin examples from bins that are already labeled.
#pragma once

#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::examples {

struct ImportOptions {
    /// Either a table: a header `#chrom start end LABEL …` (or without #), then one line per bin with 0 or 1
    /// for each label; plain, gzip or bgzip …
    std::filesystem::path table;
    /// … or DeepSEA's .mat files, each with its split; no file twice.
    std::vector<std::pair<Split, std::filesystem::path>> mats;
    /// The bins of the rows of .mat files (allTFs.pos.bed): train's lines first, then validation's (from line
    /// 2,200,001 if train is not given); test has the lines of chromosomes 8 and 9. Without it the windows
    /// are the files' own sequences.
    std::filesystem::path coordinates;
    std::vector<std::filesystem::path> references;  ///< for tables and coordinates
    std::int64_t window = 8000;
    std::vector<std::string> validation, test;  ///< HoldOuts, for tables

    /// Throws ConfigError.
    void validate() const;
};

/// Writes an example folder (FORMAT.md) into the empty `folder`, rows in the order of the input. Bins are not
/// moved. Bins whose window has too much N, or shares sequence with a window of a split with higher priority,
/// are left out and counted. Sequences of .mat files are compared with the reference at their coordinates.
/// Throws InputError and ConfigError. Memory: the positions and labels of all rows, and one contig.
void import_chromatin(const ImportOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
