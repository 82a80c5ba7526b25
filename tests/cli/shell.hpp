// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run_program.hpp"

#include <string>

namespace bigbird::testing {

/// Whether this machine has a program of that name on its PATH.
bool has_shell(const std::string& name);

/// Runs a script by bash, zsh or fish in an empty home of its own; `out` has standard output and error.
ProgramResult run_shell(const std::string& shell, const std::string& script);

}  // namespace bigbird::testing
