// SPDX-License-Identifier: Apache-2.0
// The exceptions that end an operation. what() is one sentence that a user can act on; the program maps each
// type to an exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace bigbird {

/// The codes with which the program ends.
enum class ExitCode : int {
    success = 0,
    usage = 2,           ///< wrong options, or an output that exists or cannot be made
    bad_input = 3,       ///< an input file is missing, malformed or contradicts the others
    device = 4,          ///< the accelerator asked for is missing or failed, or memory ran out
    bug = 70,            ///< anything unexpected
    write_failed = 74,   ///< writing broke off: disk full, quota, lost file system
    stopped_early = 75,  ///< stopped by --max-hours; run again to go on
    hung_up = 129,       ///< SIGHUP
    interrupted = 130,   ///< SIGINT
    user_signal = 138,   ///< SIGUSR1
    user_signal2 = 140,  ///< SIGUSR2
    reader_gone = 141,   ///< the reader of standard output closed the pipe (SIGPIPE), as head does
    terminated = 143,    ///< SIGTERM
    out_of_time = 152,   ///< SIGXCPU
};

/// Base of all errors that a user can cause; never thrown itself.
class Error : public std::runtime_error {
public:
    ExitCode code() const noexcept { return code_; }

protected:
    Error(const std::string& what, ExitCode code) : std::runtime_error(what), code_(code) {}

private:
    ExitCode code_;
};

/// Something is wrong with an input file. what() starts with "FILE:LINE: " or "FILE: " (line 0).
class InputError : public Error {
public:
    InputError(const std::string& what, const std::filesystem::path& file, std::int64_t line = 0)
        : Error(file.string() + (line > 0 ? std::string(":").append(std::to_string(line)) : "") + ": " + what,
                ExitCode::bad_input) {}
    /// For a fault between inputs rather than in one file.
    explicit InputError(const std::string& what) : Error(what, ExitCode::bad_input) {}
};

/// An existing input cannot be read: a permission, a disk, a limit of the system. Its content may be fine.
class ReadError : public InputError {
public:
    using InputError::InputError;
};

/// An error whose type has one exit code.
template <ExitCode with>
class ErrorWith : public Error {
public:
    explicit ErrorWith(const std::string& what) : Error(what, with) {}
};
/// An option has a value that cannot be used, or an output exists or cannot be made.
using ConfigError = ErrorWith<ExitCode::usage>;
/// A device that was asked for is missing, out of memory or failed.
using DeviceError = ErrorWith<ExitCode::device>;
/// Writing broke off (disk full, quota).
using WriteError = ErrorWith<ExitCode::write_failed>;

/// The work was stopped by a signal or --max-hours. Everything needed to resume it has been saved.
class Stopped : public Error {
public:
    Stopped(const std::string& what, ExitCode code) : Error(what, code) {}
};

}  // namespace bigbird
