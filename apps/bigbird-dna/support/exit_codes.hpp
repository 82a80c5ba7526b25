// SPDX-License-Identifier: Apache-2.0
// The meanings of the program's exit codes, for --help, the reference and the man pages.
#pragma once

#include "bigbird/core/error.hpp"

#include <utility>

namespace bigbird::cli {

inline constexpr std::pair<ExitCode, const char*> exit_meanings[] = {
    {ExitCode::success, "complete output"},
    {ExitCode::usage, "usage"},
    {ExitCode::bad_input, "bad input"},
    {ExitCode::device, "device or out of memory"},
    {ExitCode::bug, "bug"},
    {ExitCode::write_failed, "write failed"},
    {ExitCode::stopped_early, "stopped early and resumable"},
    {ExitCode::hung_up, "SIGHUP"},
    {ExitCode::interrupted, "SIGINT"},
    {ExitCode::user_signal, "SIGUSR1"},
    {ExitCode::user_signal2, "SIGUSR2"},
    {ExitCode::reader_gone, "standard output was closed"},
    {ExitCode::terminated, "SIGTERM"},
    {ExitCode::out_of_time, "SIGXCPU"},
};

}  // namespace bigbird::cli
