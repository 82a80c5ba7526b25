// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/free_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace bigbird {

namespace fs = std::filesystem;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr double kilobyte = 1024;

/// The number that a file begins with; infinity where it does not ("max"), or where there is no such file.
double number_in(const fs::path& file) {
    std::ifstream in(file);
    double value = 0;
    return in >> value ? value : unlimited;
}

/// The number behind `key`, or `otherwise`.
double number_after(const std::string& key, const fs::path& file, double otherwise) {
    std::ifstream in(file);
    for (std::string word; in >> word;) {
        double value = 0;
        if (word == key && in >> value) {
            return value;
        }
    }
    return otherwise;
}

struct GroupFiles {
    const char *limit, *used, *droppable;  // the last is a line of memory.stat
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

double left_by_group(const fs::path& group, const GroupFiles& files) {
    const double limit = number_in(group / files.limit), used = number_in(group / files.used);
    if (!std::isfinite(limit) || !std::isfinite(used)) {
        return unlimited;
    }
    return limit - used + number_after(files.droppable, group / "memory.stat", 0);
}

/// What `ulimit -v` leaves.
double left_of_address_space() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return unlimited;
    }
    return static_cast<double>(limit.rlim_cur) -
           number_in("/proc/self/statm") * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

double left_by_control_groups(const fs::path& groups_of_process, const fs::path& mounted_at) {
    std::ifstream in(groups_of_process);
    double left = unlimited;
    for (std::string line; std::getline(in, line);) {  // "0::/a/b", or "9:memory:/a/b"
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && controllers != "memory") {
            continue;
        }
        const GroupFiles& files = controllers.empty() ? version_2 : version_1;
        const fs::path root = controllers.empty() ? mounted_at : mounted_at / "memory";
        fs::path group = fs::path(line.substr(second + 1)).relative_path();
        left = std::min(left, left_by_group(root, files));
        for (; !group.empty(); group = group.parent_path()) {
            left = std::min(left, left_by_group(root / group, files));
        }
    }
    return left;
}

double free_memory() {
    return std::max(0.0, std::min({kilobyte * number_after("MemAvailable:", "/proc/meminfo", unlimited),
                                   left_of_address_space(),
                                   left_by_control_groups("/proc/self/cgroup", "/sys/fs/cgroup")}));
}

bool is_out_of_memory(const std::exception& error) {
    // LibTorch's, cuBLAS's and oneDNN's, which gives no cause: what it lacks for a product is memory. It says
    // that of a primitive, an engine, a memory descriptor.
    static constexpr std::string_view words[] = {"DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED",
                                                 "out of memory",       "could not create a",
                                                 "could not clone a",   "could not execute a primitive"};
    const auto* const system = dynamic_cast<const std::system_error*>(&error);
    const std::string_view text = error.what();
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           (system != nullptr && (system->code() == std::errc::not_enough_memory ||
                                  system->code() == std::errc::resource_unavailable_try_again)) ||
           std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace bigbird
