// SPDX-License-Identifier: Apache-2.0
// Messages for people, all on standard error; standard output is for data.
#pragma once

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

namespace bigbird {

enum class Verbosity { quiet, normal, verbose };

/// Sets up the log once, at start: "bigbird-dna: message", warnings and errors marked. quiet keeps warnings
/// and errors. `prefix` precedes every message ("process 1: "), where several processes write to one
/// terminal.
void set_up_log(Verbosity verbosity, const std::string& prefix = "");
Verbosity log_verbosity();

template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
    spdlog::debug(format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    spdlog::info(format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
    spdlog::warn(format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    spdlog::error(format, std::forward<Args>(args)...);
}

}  // namespace bigbird
