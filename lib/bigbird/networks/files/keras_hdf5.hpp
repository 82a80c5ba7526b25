// SPDX-License-Identifier: Apache-2.0
// What the child process of read_keras_file() does.
#pragma once

#include "bigbird/core/system/child_process.hpp"

#include <filesystem>

namespace bigbird::networks {

/// Sends a JSON object (keys of KerasFile; each weight with `path`'s parts and `shape`), then the values of
/// each weight, which are read only then.
void send_keras_file(const std::filesystem::path& path, const ChildReader::Words&,
                     const ChildReader::Send& send);

}  // namespace bigbird::networks
