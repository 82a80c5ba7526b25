// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/temp_dir.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string>

namespace bigbird::testing {

/// Writes a file of an example folder anew, as a folder without checksums would hold it.
inline void change_example(const std::filesystem::path& file, const std::string& text) {
    write_file(file, text);
    const std::filesystem::path path = file.parent_path() / "manifest.json";
    Json manifest = read_json(path);
    manifest.erase("files");
    write_json(path, manifest, Overwrite::allow);
}

}  // namespace bigbird::testing
