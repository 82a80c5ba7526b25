// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace bigbird {

/// SHA-256 in lower-case hex, as `sha256sum` prints it. Throws InputError if the file is missing,
/// ReadError where it cannot be read. `between` is called about every megabyte; an exception from it ends the
/// reading.
std::string sha256_of_file(const std::filesystem::path& path, const std::function<void()>& between = {});
std::string sha256_of_text(std::string_view text);

}  // namespace bigbird
