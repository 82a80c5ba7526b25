// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// The features of the first processor in a file like /proc/cpuinfo, for bug reports: those that our kernels
/// and LibTorch check, by the system's names, separated by blanks. instruction_set() decides which may be
/// used.
std::string processor_features(const std::filesystem::path& cpuinfo = "/proc/cpuinfo");

}  // namespace bigbird
