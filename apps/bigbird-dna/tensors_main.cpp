// SPDX-License-Identifier: Apache-2.0
// bigbird-dna-tensors: the commands that need LibTorch; started by bigbird-dna, not by people.
#include "commands/commands.hpp"

#include "bigbird/core/interrupt.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace {

/// Ends without the destructors of LibTorch's static objects, which are not needed.
[[noreturn]] void end(int code) {
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(code);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace bigbird::cli;
    end(run_program(argc, argv, [](Program& program) {
        bigbird::take_signals_on_own_thread();
        add_commands<false>(program, RunHere{}, run_info_with_tensors);
    }));
}
