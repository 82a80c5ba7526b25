// SPDX-License-Identifier: Apache-2.0
// A process that answers requests, for libraries that may crash on a stranger's file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bigbird {

/// The process ended without an answer. what(): "by signal 11 (Segmentation fault)", "with exit code 1",
/// "after 120 s of processor time without an answer".
class WorkerEnded : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What a library may do on a stranger's file: loop for ever, and take memory by a number of the file.
struct WorkerLimits {
    std::chrono::seconds processor_time{120};        ///< of a request; more ends the process
    std::uint64_t memory = std::uint64_t{16} << 30;  ///< bytes of address space beyond what its maker has
};

/// Not thread-safe. The process dies with its maker. What it writes to standard error is lost.
class ConfinedWorker {
public:
    /// Answers one request. It may throw.
    using Serve = std::function<std::string(std::string_view)>;

    /// Forks; `serve` runs in the child, under confine_process(), and what it holds lives there from one
    /// request to the next. Call it where this process has one thread. Throws std::system_error.
    explicit ConfinedWorker(Serve serve, const WorkerLimits& limits = {});
    ~ConfinedWorker();
    ConfinedWorker(const ConfinedWorker&) = delete;
    ConfinedWorker& operator=(const ConfinedWorker&) = delete;

    /// Throws InputError or std::bad_alloc as `serve` did, std::runtime_error for its other exceptions,
    /// WorkerEnded, and Stopped where a signal comes in meanwhile.
    std::string ask(std::string_view request);
    /// For a `serve` that reads `file`: ask(), and InputError naming the file in place of WorkerEnded.
    std::string ask_about(const std::filesystem::path& file, std::string_view request);

private:
    int wait_for_end();
    [[noreturn]] void throw_ended();
    void require_time(std::chrono::nanoseconds used);

    std::chrono::seconds processor_time_;
    pid_t child_ = -1;
    int channel_ = -1;
};

}  // namespace bigbird
