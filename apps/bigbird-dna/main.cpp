// SPDX-License-Identifier: Apache-2.0
// bigbird-dna: parses every command; runs what needs no tensors, hands the rest over.
#include "commands/command_list.hpp"

int main(int argc, char** argv) {
    return bigbird::cli::run_program(argc, argv, [argv](bigbird::cli::Program& program) {
        add_commands(program, bigbird::cli::HandOver(argv));
    });
}
