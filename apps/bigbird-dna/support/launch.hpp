// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird::cli {

/// Starts this program's command line `count` times, as the ranks of one job on this machine, and waits for
/// them. Signals are passed on to all. When one process fails, the others are ended. Returns 0, or the exit
/// code of the process that failed first through its own fault. No child outlives this process. Throws
/// ConfigError for more than eight per processor.
int launch_processes(int count);

}  // namespace bigbird::cli
