// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bigbird::testing {

struct ProgramResult {
    int code = -1;         ///< exit code, or 128 + signal
    std::string out, err;  ///< standard output and error
};

/// Runs bigbird-dna with these arguments and this standard input, and waits for it.
ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& input = {});

}  // namespace bigbird::testing
