// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird {

/// Turns SIGINT and SIGTERM into a flag that long work looks at; a second signal ends the program at once.
/// SIGPIPE is ignored. What hold_signals() held back comes in now. Call it first in main(), on the thread of
/// main(): the kernel gives signals to that thread, and their handler has a stack of its own there.
void install_signal_handlers();

/// Holds SIGINT and SIGTERM back until install_signal_handlers() or release_signals(), also across fork() and
/// exec(): a program that is still being loaded would be ended by them. Throws Stopped if one came in before.
void hold_signals();
void release_signals() noexcept;

/// While it lives, a signal ends the process at once with the exit code of Stopped: for waits that cannot be
/// interrupted, where there is nothing yet to save. Throws Stopped if one came in before.
class EndAtSignal {
public:
    EndAtSignal();
    ~EndAtSignal();
    EndAtSignal(const EndAtSignal&) = delete;
    EndAtSignal& operator=(const EndAtSignal&) = delete;
};

/// The signal that came in, or 0. Async-signal-safe, thread-safe.
int stop_signal() noexcept;

/// Throws Stopped (exit code 130 or 143) if a signal came in. Call it between units of work.
void stop_if_asked();

/// For tests: sets or clears the flag.
void set_stop_signal(int signal) noexcept;

}  // namespace bigbird
