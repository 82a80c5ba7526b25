// SPDX-License-Identifier: Apache-2.0
// bigbird-dna-tensors: the commands that need LibTorch; started by bigbird-dna, not by people.
#include "commands/finetune_chromatin.hpp"
#include "commands/finetune_promoter.hpp"
#include "commands/predict_chromatin.hpp"
#include "commands/predict_promoter.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
    bigbird::cli::Program program;
    using namespace bigbird::cli;
    setup_finetune_promoter(program, run_finetune_promoter);
    setup_predict_promoter(program, run_predict_promoter);
    setup_finetune_chromatin(program, run_finetune_chromatin);
    setup_predict_chromatin(program, run_predict_chromatin);
    return program.main(argc, argv);
}
