// SPDX-License-Identifier: Apache-2.0
// Checks whether several processes could train together here, without starting any.
#pragma once

#include "bigbird/core/system/program_file.hpp"

#include <filesystem>
#include <string>

namespace bigbird::training {

/// Why Gloo (for CPUs) cannot be used; empty if it can. Uses the interface that GLOO_SOCKET_IFNAME names, as
/// training does.
std::string gloo_obstacle();

struct NcclFacts {
    std::string obstacle;           ///< why NCCL, between GPUs, cannot be used; empty if it can
    std::string version;            ///< "2.28.9"; empty if there is no library
    std::filesystem::path library;  ///< libnccl.so.2
};
/// Facts of this program's plugin. GPUs are not checked.
NcclFacts nccl_facts(const std::filesystem::path& plugin = program_file("bigbird-nccl.so"));

}  // namespace bigbird::training
