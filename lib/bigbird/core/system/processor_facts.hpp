// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// The features of the first processor in a file like /proc/cpuinfo, for bug reports: those that our kernels
/// and LibTorch's look at, by the system's names, apart by blanks. What may be used of them is
/// instruction_set()'s.
std::string processor_features(const std::filesystem::path& cpuinfo = "/proc/cpuinfo");

}  // namespace bigbird
