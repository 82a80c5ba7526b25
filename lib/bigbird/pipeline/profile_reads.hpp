// SPDX-License-Identifier: Apache-2.0
// What the files of cut sites held, for train's report page.
#pragma once

#include "bigbird/examples/build/signals/read_signal.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace bigbird::tasks {

/// A page section: how many reads of each file counted, and why others did not, the shift of their ends, and
/// the letters around the bases that count. `paths`: the file of each of `files`.
std::string reads_html(std::span<const std::filesystem::path> paths,
                       std::span<const examples::SignalRead> files, const examples::SignalReading& how);

}  // namespace bigbird::tasks
