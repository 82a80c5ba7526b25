// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird::cli {

/// From now on threads start with the stop signals held back, those of libraries (OpenMP, CUDA) too: the
/// thread of main() alone handles them. The kernel prefers that thread, but hands a signal to another one
/// where the first has one to handle already, and the others have no stack of their own for handlers, which
/// install_signal_handlers() tells why they need. Call it in main(), before threads are started.
void hold_signals_in_new_threads() noexcept;

}  // namespace bigbird::cli
