// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// The path of a file that is installed with the running program: beside it or, for test and benchmark
/// programs, in the bin/ beside its folder. If neither exists, the first of them. Throws DeviceError if there
/// is no /proc.
std::filesystem::path program_file(const std::string& name);

}  // namespace bigbird
