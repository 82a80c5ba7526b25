// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// The path of a file that comes with the running program: beside it or, for a program of the tests or
/// benchmarks, in the bin/ beside its folder. The first where there is neither.
/// Throws DeviceError where there is no /proc.
std::filesystem::path program_file(const std::string& name);

}  // namespace bigbird
