// SPDX-License-Identifier: Apache-2.0
// A process that answers requests, for libraries that may crash on a stranger's file.
#pragma once

#include <sys/types.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bigbird {

/// The process ended without an answer. what(): "by signal 11 (Segmentation fault)", "with exit code 1".
class WorkerEnded : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Not thread-safe. The process dies with its maker.
class ConfinedWorker {
public:
    /// Answers one request. It may throw.
    using Serve = std::function<std::string(std::string_view)>;

    /// Forks; `serve` runs in the child, under confine_process(), and what it holds lives there from one
    /// request to the next. Call it where this process has one thread. Throws std::system_error.
    explicit ConfinedWorker(Serve serve);
    ~ConfinedWorker();
    ConfinedWorker(const ConfinedWorker&) = delete;
    ConfinedWorker& operator=(const ConfinedWorker&) = delete;

    /// Throws InputError or std::bad_alloc as `serve` did, std::runtime_error for its other exceptions,
    /// WorkerEnded, and Stopped where a signal comes in meanwhile.
    std::string ask(std::string_view request);

private:
    [[noreturn]] void throw_ended();

    pid_t child_ = -1;
    int channel_ = -1;
};

}  // namespace bigbird
