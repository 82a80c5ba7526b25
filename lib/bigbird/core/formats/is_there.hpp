// SPDX-License-Identifier: Apache-2.0
// Whether a file or folder that is read is there.
#pragma once

#include "bigbird/core/error.hpp"

#include <filesystem>
#include <system_error>

namespace bigbird {

/// As std::filesystem::exists(). Throws ReadError where it cannot be known, such as of links in a circle:
/// what is there is never taken for missing.
inline bool is_there(const std::filesystem::path& path) {
    std::error_code error;
    const bool there = std::filesystem::exists(path, error);
    if (error) throw ReadError("cannot be read: " + error.message(), path);
    return there;
}

}  // namespace bigbird
