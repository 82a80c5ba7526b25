// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird {

/// Turns SIGINT and SIGTERM into a flag that long work looks at; a second signal ends the program at once.
/// SIGPIPE is ignored.
void install_signal_handlers();

/// The signal that came in, or 0. Async-signal-safe, thread-safe.
int stop_signal() noexcept;

/// Throws Stopped (exit code 130 or 143) if a signal came in. Call it between units of work.
void stop_if_asked();

/// For tests: sets or clears the flag.
void set_stop_signal(int signal) noexcept;

}  // namespace bigbird
