// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

namespace bigbird {

/// The signals that ask a program to end. Batch systems send SIGXCPU when the requested processor time runs
/// out, and SIGUSR1 or SIGUSR2 some time before a job's end (Slurm's --signal).
inline constexpr std::array<int, 6> stop_signals{SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

/// Turns the first stop signal into a flag that long work checks. The same SIGINT or SIGTERM again ends the
/// program at once, but not within a second: timeout signals its child and the child's group. A second one of
/// the others does nothing: a closing terminal sends two SIGHUPs, and SIGXCPU comes each second. A signal
/// that was ignored before stays ignored, as nohup requires. SIGPIPE and SIGXFSZ are ignored. Delivers what
/// hold_signals() blocked. Call it first in main(), on main()'s thread: only there has the handler its own
/// stack.
void install_signal_handlers();

/// From now on a separate thread receives the signals; this thread, and threads that it starts, block them.
/// For programs that use LibTorch: oneDNN's matrix products let the stack pointer point into the heap (its
/// issue 4845, up to 3.11), which a handler there would overwrite.
void take_signals_on_own_thread();

/// Blocks the stop signals until install_signal_handlers() or release_signals(), also across fork() and
/// exec(), because they would end a program that is still being loaded. Throws Stopped if a stop signal
/// arrived before.
void hold_signals();
void release_signals() noexcept;

/// While it exists, a signal ends the process at once with the exit code of Stopped. Use it for waits that
/// cannot be interrupted and have nothing to save. Throws Stopped if a signal came before.
class EndAtSignal {
public:
    EndAtSignal();
    ~EndAtSignal();
    EndAtSignal(const EndAtSignal&) = delete;
    EndAtSignal& operator=(const EndAtSignal&) = delete;
};

/// While it exists, a stop signal also ends work that does not check for signals in time. Once `grace` has
/// passed after the signal, another thread calls `keep`, which saves or removes output. It then ends the
/// process with the exit code of Stopped, or of the error that `keep` throws. The work continues during
/// `keep`, so `keep` may only read what the work does not change. The destructor waits for a running `keep`.
/// With several objects, the innermost counts. If no thread can be created, the signal takes effect when the
/// work checks for it.
class StopDeadline {
public:
    StopDeadline(std::chrono::milliseconds grace, std::function<void()> keep);
    /// No deadline, for work that ends by itself and must not be interrupted.
    StopDeadline();
    ~StopDeadline();
    StopDeadline(const StopDeadline&) = delete;
    StopDeadline& operator=(const StopDeadline&) = delete;

private:
    int depth_;
    std::jthread watch_;
};

/// The stop signal that arrived, or 0. Async-signal-safe, thread-safe.
int stop_signal() noexcept;

/// Throws Stopped (exit code 128 + the signal) if a signal came in. Call it between units of work.
void stop_if_asked();

/// For tests: sets or clears the flag.
void set_stop_signal(int signal) noexcept;

}  // namespace bigbird
