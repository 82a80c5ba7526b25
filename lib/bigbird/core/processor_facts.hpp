// SPDX-License-Identifier: Apache-2.0
// What the system says of this machine, for bug reports.
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

struct ProcessorFacts {
    std::string name;      ///< empty where the system does not tell
    std::string features;  ///< those that our kernels and LibTorch's look at, apart by blanks
};

/// Of the first processor in a file like /proc/cpuinfo.
ProcessorFacts processor_facts(const std::filesystem::path& cpuinfo = "/proc/cpuinfo");

}  // namespace bigbird
