// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace bigbird {

/// fork(), after standard output is flushed, else the child writes its copy of the buffer, too. Throws
/// ConfigError.
pid_t fork_here();

/// A process that forks children for this one. It was forked while this process had one thread, no open file
/// of HDF5 and little memory. So its children inherit no lock that another thread holds, no state of a
/// library that is at work, and no address space that exceeds their limit (a GPU's driver maps terabytes).
class ForkServer {
public:
    using Body = void (*)(int connection);

    /// Starts the process, if the system has one to give. Call it before other threads start, once.
    ForkServer() noexcept;
    ~ForkServer() { end(); }
    ForkServer(const ForkServer&) = delete;
    ForkServer& operator=(const ForkServer&) = delete;

    /// Ends the process, as before exec.
    static void end() noexcept;
    /// Forks a child of this process, which calls `body` with its copy of a descriptor. Without a server,
    /// forks this process: then call it where other threads hold no lock that `body` takes. Thread-safe.
    /// Throws ConfigError.
    static pid_t fork(Body body, int connection);
};

}  // namespace bigbird
