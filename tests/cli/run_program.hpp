// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::testing {

struct ProgramResult {
    int code = -1;           ///< exit code, or 128 + signal
    bool by_signal = false;  ///< that ended it
    std::string out, err;    ///< standard output and error
    int threads = 0;         ///< when a signal was sent to it ...
    int open_threads = 0;    ///< ... and those of them that do not hold that signal back
};

/// What happens to a program while it runs.
struct Disturbance {
    int signal = 0;                  ///< sent to it ...
    std::string once_said{};         ///< ... as soon as standard error holds this ...
    std::string once_filled{};       ///< ... and this folder, where named, something
    int milliseconds = 0;            ///< ... and so long after it first handles the signal
    bool twice = false;              ///< the signal, as timeout sends it: to the child and to its group
    std::uint64_t largest_file = 0;  ///< bytes; writing fails beyond, as on a full disk
    std::string program{};           ///< another copy of it
};

/// The bigbird-dna that the tests run.
std::string program_path();

/// The folder of a pretended libcuda.so.1 (tests/support/fake_cuda_driver.cpp), for LD_LIBRARY_PATH.
std::string fake_driver_folder();

/// Runs bigbird-dna with these arguments and this standard input, and waits for it.
ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& input = {},
                          const Disturbance& disturbance = {});

/// Whether this machine has a program of that name on its PATH.
bool has_shell(const std::string& name);

/// Runs a script by bash, zsh or fish in an empty home of its own; `out` has standard output and error.
ProgramResult run_shell(const std::string& shell, const std::string& script);

}  // namespace bigbird::testing
