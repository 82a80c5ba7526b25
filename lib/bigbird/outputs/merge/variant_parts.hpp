// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"

#include <filesystem>
#include <span>

namespace bigbird::outputs {

/// merge_scores() for VCF or BCF, including the index.
void merge_variants(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                    int threads);

}  // namespace bigbird::outputs
