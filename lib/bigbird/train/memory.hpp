// SPDX-License-Identifier: Apache-2.0
// How much memory there is, and whether it ran out.
#pragma once

#include "bigbird/core/error.hpp"

#include <ATen/core/Tensor.h>

#include <exception>
#include <filesystem>
#include <string>

namespace bigbird::train {

/// Bytes that this process may still take: of the machine's free memory and what its control groups and
/// `ulimit -v` leave, or of the GPU's; infinity where a GPU does not tell.
double available_memory(const at::Device& device);

/// What the control groups of a process leave it, by /proc/PID/cgroup and the folder where they are mounted
/// (versions 1 and 2): a group's limit less what it holds and cannot drop, the least from its own group up to
/// the root. Infinity where nothing is limited.
double left_by_control_groups(const std::filesystem::path& groups_of_process,
                              const std::filesystem::path& mounted_at);

/// Whether an exception says that memory ran out, the CPU's or the GPU's.
bool is_out_of_memory(const std::exception& error);

/// Calls `body`; memory that runs out there becomes a DeviceError with this sentence.
template <typename Body>
auto with_memory_advice(const std::string& sentence, Body&& body) {
    try {
        return body();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        if (is_out_of_memory(error)) {
            throw DeviceError(sentence);
        }
        throw;
    }
}

/// From now on large blocks that are freed go back to the system at once, which costs some time: without it
/// the C library keeps about as much as recomputing saves.
void keep_little_memory();

}  // namespace bigbird::train
