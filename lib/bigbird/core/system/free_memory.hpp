// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <filesystem>

namespace bigbird {

/// Bytes that this process may still take: of the machine's free memory and what its control groups and
/// `ulimit -v` leave; infinity where the system does not tell.
double free_memory();

/// What the control groups of a process leave it, by /proc/PID/cgroup and the folder where they are mounted
/// (versions 1 and 2): a group's limit less what it holds and cannot drop, the least from its own group up to
/// the root. Infinity where nothing is limited.
double left_by_control_groups(const std::filesystem::path& groups_of_process,
                              const std::filesystem::path& mounted_at);

/// Whether an exception says that memory ran out, the processor's or a GPU's: std::bad_alloc, and LibTorch's
/// own, by their text.
bool is_out_of_memory(const std::exception& error);

}  // namespace bigbird
