// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"

#include <filesystem>
#include <span>

namespace bigbird::outputs {

/// Writes `output` from parts of --shard; the result is identical to the output of a single run. Reads each
/// part once, in constant memory except for tracks, which take about 32 bytes per row. Throws ConfigError if
/// `output` has another format than the parts. Throws InputError if a part holds other rows than its record
/// counts, or numbers of another type or shape, or rows of several parts overlap in a track of means. Throws
/// WriteError.
void merge_scores(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                  int threads);

}  // namespace bigbird::outputs
