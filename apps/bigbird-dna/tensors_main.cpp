// SPDX-License-Identifier: Apache-2.0
// bigbird-dna-tensors: the commands that need LibTorch; started by bigbird-dna, not by people.
#include "support/program.hpp"

int main(int argc, char** argv) {
    bigbird::cli::Program program;
    return program.main(argc, argv);
}
