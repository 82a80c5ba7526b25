// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/program_file.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird {

std::filesystem::path program_file(const std::string& name) {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) {
        throw DeviceError("/proc/self/exe: cannot be read: " + error.message() +
                          "; the program finds its parts by it, so /proc must be mounted");
    }
    const std::filesystem::path folder = self.parent_path();
    const std::filesystem::path beside = folder / name, in_bin = folder.parent_path() / "bin" / name;
    return !std::filesystem::exists(beside) && std::filesystem::exists(in_bin) ? in_bin : beside;
}

}  // namespace bigbird
