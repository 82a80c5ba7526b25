// SPDX-License-Identifier: Apache-2.0
// bigbird-dna-tensors: the commands that need LibTorch; started by bigbird-dna, not by people.
#include "commands/embed.hpp"
#include "commands/evaluate_mlm.hpp"
#include "commands/finetune.hpp"
#include "commands/finetune_tokens.hpp"
#include "commands/forward.hpp"
#include "commands/info_program.hpp"
#include "commands/predict.hpp"
#include "commands/predict_tokens.hpp"
#include "commands/predict_variants.hpp"
#include "commands/pretrain.hpp"
#include "support/program.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

void add_tensor_commands(bigbird::cli::Program& program) {
    using namespace bigbird::cli;
    using bigbird::examples::Task;
    setup_pretrain(program, run_pretrain);
    setup_evaluate_mlm(program, run_evaluate_mlm);
    setup_finetune(program, Task::promoter, run_finetune);
    setup_predict(program, Task::promoter, run_predict);
    setup_finetune(program, Task::chromatin, run_finetune);
    setup_predict(program, Task::chromatin, run_predict);
    setup_finetune_tokens(program, run_finetune_tokens);
    setup_predict_tokens(program, run_predict_tokens);
    setup_predict_variants(program, run_predict_variants);
    setup_embed(program, run_embed);
    setup_forward(program, run_forward);
    setup_info(program, run_info_with_tensors);
}

/// Without the destructors of LibTorch's static objects: they take memory, and would end the program by a
/// signal where there is none left.
[[noreturn]] void end(int code) {
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(code);
}

}  // namespace

int main(int argc, char** argv) {
    end(bigbird::cli::run_program(argc, argv, add_tensor_commands));
}
