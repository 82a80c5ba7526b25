// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/outputs/layout.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::outputs {

/// A table with one line for each row and label whose score is at least `min_score`: the row's fields, then
/// `index group label value`. What was not scored has no line.
std::unique_ptr<Sink> long_sink(const std::filesystem::path& path, Overwrite overwrite, const Layout& layout,
                                float min_score, int threads);

}  // namespace bigbird::outputs
