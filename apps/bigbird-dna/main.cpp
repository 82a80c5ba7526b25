// SPDX-License-Identifier: Apache-2.0
// bigbird-dna: parses every command; runs those that need no tensors, and passes the others to
// bigbird-dna-tensors.
#include "commands/commands.hpp"

int main(int argc, char** argv) {
    using namespace bigbird::cli;
    return run_program(argc, argv, [argv](Program& program) {
        add_commands<true>(
            program, [argv](const auto&) -> int { exec_tensor_program(argv); }, RunHere{});
    });
}
