// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>

namespace bigbird {

/// The signals by which a program is asked to end. Batch systems send SIGXCPU where the processor time that
/// was asked for runs out, and SIGUSR1 or SIGUSR2 some time before a job's end (Slurm's --signal).
inline constexpr std::array<int, 6> stop_signals{SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

/// Turns the stop signals into a flag that long work looks at; a second SIGINT or SIGTERM ends the program at
/// once. Of the others a second one does nothing: a terminal that closes sends two SIGHUPs, from the shell
/// and from the kernel, and SIGXCPU comes each second; nor does the first where it was ignored before, as
/// nohup does. SIGPIPE and SIGXFSZ are ignored. What hold_signals() held back comes in now. Call it first in
/// main(), on the thread of main(): the handler has a stack of its own there, and there alone. The kernel
/// prefers that thread; others should be started with these signals held back (as
/// apps/bigbird-dna/support/thread_signals.hpp does).
void install_signal_handlers();

/// Holds the stop signals back until install_signal_handlers() or release_signals(), also across fork() and
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

/// Throws Stopped (exit code 128 + the signal) if a signal came in. Call it between units of work.
void stop_if_asked();

/// For tests: sets or clears the flag.
void set_stop_signal(int signal) noexcept;

}  // namespace bigbird
