// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bigbird {

/// SHA-256 in lower-case hex, as `sha256sum` prints it. Throws InputError where the file cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);
std::string sha256_of_text(std::string_view text);

}  // namespace bigbird
