// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/outputs/layout.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::outputs {

/// A score table (rows/score_table.hpp): one line a row, one column a label; bgzip by suffix, "-" is
/// standard output.
std::unique_ptr<Sink> table_sink(const std::filesystem::path& path, Overwrite overwrite, const Layout& layout,
                                 int threads);

}  // namespace bigbird::outputs
