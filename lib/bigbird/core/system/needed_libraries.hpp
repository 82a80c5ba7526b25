// SPDX-License-Identifier: Apache-2.0
// What the dynamic loader finds of the shared libraries that a program or library needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird {

struct NeededLibrary {
    std::string name;            ///< such as libcudart.so.13
    std::filesystem::path path;  ///< empty where it is not found
};

/// Every library that the loader would load with `file`, directly or not, as ldd shows; nothing of them is
/// run. Empty where `file` is no such file.
std::vector<NeededLibrary> needed_libraries(const std::filesystem::path& file);

/// From the loader's own words, those of ldd.
std::vector<NeededLibrary> parse_needed_libraries(const std::string& list);

/// The names of those that are not found.
std::vector<std::string> missing_of(const std::vector<NeededLibrary>& libraries);

}  // namespace bigbird
