// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"

#include <filesystem>
#include <span>

namespace bigbird::outputs {

/// Writes `output` out of parts that --shard wrote, byte for byte what one run writes. Reads each part once,
/// in memory that does not grow with them, but for tracks, which take some 32 bytes a row. Throws ConfigError
/// where `output` has another format than the parts; InputError where a part holds other rows than its record
/// counts, or numbers of another type or shape, or where rows of several parts overlap in a track of means;
/// WriteError.
void merge_scores(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                  int threads);

}  // namespace bigbird::outputs
