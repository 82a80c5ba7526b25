// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/program_file.hpp"

namespace bigbird {

std::filesystem::path program_file(const std::string& name) {
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::filesystem::path beside = folder / name, in_bin = folder.parent_path() / "bin" / name;
    return !std::filesystem::exists(beside) && std::filesystem::exists(in_bin) ? in_bin : beside;
}

}  // namespace bigbird
