// SPDX-License-Identifier: Apache-2.0
// Whether an input file or folder exists, and can be read without waiting.
#pragma once

#include "bigbird/core/error.hpp"

#include <filesystem>
#include <string>
#include <system_error>

namespace bigbird {

/// Whether an input is there: like std::filesystem::exists(), so a dangling link is not. Throws ReadError if
/// the answer is unknown, for example for circular links, so that an existing file never counts as missing.
inline bool is_there(const std::filesystem::path& path) {
    std::error_code error;
    const bool there = std::filesystem::exists(path, error);
    if (error) throw ReadError("cannot be read: " + error.message(), path);
    return there;
}

/// Throws InputError if `path` is a named pipe: opening it would wait until somebody writes to it. Pipes of
/// the shell, `<(...)` and /dev/stdin, are below /dev or /proc and are accepted.
inline void refuse_named_pipe(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_fifo(path, error)) return;
    const std::string name = path.string();
    if (name.starts_with("/dev/") || name.starts_with("/proc/")) return;
    throw InputError("is a pipe, a file is needed", path);
}

}  // namespace bigbird
