// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/free_memory.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <system_error>

namespace bigbird {

namespace fs = std::filesystem;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr double kilobyte = 1024;

/// Memory that Linux can give without swapping: free memory plus reclaimable file cache.
double available_memory() {
    std::ifstream in("/proc/meminfo");
    for (std::string word; in >> word;) {
        double value = 0;
        if (word == "MemAvailable:" && in >> value) return kilobyte * value;
    }
    return unlimited;
}

/// The lowest limit of the control groups (version 2) in which this process runs, for example of a Slurm job
/// or a container.
double control_group_limit() {
    std::string group;
    std::getline(std::ifstream("/proc/self/cgroup"), group);  // 0::/a/b
    double limit = unlimited;
    for (fs::path path = "/sys/fs/cgroup" + group.substr(std::min<std::size_t>(3, group.size()));
         path.has_relative_path(); path = path.parent_path()) {
        double value = 0;
        if (std::ifstream(path / "memory.max") >> value) limit = std::min(limit, value);  // else "max"
    }
    return limit;
}

bool holds_one_of(std::string_view text, std::span<const char* const> words) {
    return std::ranges::any_of(
        words, [&](const char* word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

double free_memory() {
    return std::min(available_memory(), control_group_limit());
}

bool is_out_of_memory(const std::exception& error) {
    // Words in messages of LibTorch, cuBLAS and oneDNN. oneDNN's "could not create a primitive" and similar
    // messages name no cause, but for a product the cause is missing memory.
    constexpr std::array words{"DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED",
                               "out of memory",       "could not create a",
                               "could not clone a",   "could not execute a primitive"};
    const auto* const system = dynamic_cast<const std::system_error*>(&error);
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           (system != nullptr && (system->code() == std::errc::not_enough_memory ||
                                  system->code() == std::errc::resource_unavailable_try_again)) ||
           holds_one_of(error.what(), words);
}

std::optional<std::string> device_fault(const std::exception& error) {
    constexpr std::array signs{"CUDA error",    "CUDA driver error", "CUBLAS_STATUS_", "CUSOLVER_STATUS_",
                               "CUDNN_STATUS_", "cuDNN error",       "NCCL error",     "CUDA kernel errors"};
    const std::string text = error.what();
    if (!holds_one_of(text, signs)) return {};
    const std::string first = text.substr(0, text.find('\n'));
    return "the GPU failed: " + first.substr(0, first.find_last_not_of(". ") + 1) +
           "; 'bigbird-dna info --program' and nvidia-smi say what is there, and a second run may go on "
           "from the last checkpoint";
}

}  // namespace bigbird
