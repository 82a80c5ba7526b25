// SPDX-License-Identifier: Apache-2.0
// bigbird-dna: parses every command; runs what needs no tensors, hands the rest over.
#include "support/hand_over.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
    bigbird::cli::Program program;
    const bigbird::cli::HandOver tensors(argv);
    static_cast<void>(tensors);
    return program.main(argc, argv);
}
