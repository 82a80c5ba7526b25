// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::genome {

/// Whether an option's value can only be the text of regions (parse_region): it is neither "-" nor the name
/// of a file, and its first word has no '/'.
bool is_region_text(const std::filesystem::path& value);

}  // namespace bigbird::genome
