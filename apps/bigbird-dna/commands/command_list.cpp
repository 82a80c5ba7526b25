// SPDX-License-Identifier: Apache-2.0
#include "commands/command_list.hpp"

#include "commands/build_chromatin.hpp"
#include "commands/build_documents.hpp"
#include "commands/build_promoters.hpp"
#include "commands/completion.hpp"
#include "commands/decode.hpp"
#include "commands/embed.hpp"
#include "commands/encode.hpp"
#include "commands/evaluate.hpp"
#include "commands/evaluate_mlm.hpp"
#include "commands/evaluate_tokens.hpp"
#include "commands/finetune.hpp"
#include "commands/finetune_tokens.hpp"
#include "commands/forward.hpp"
#include "commands/help.hpp"
#include "commands/info.hpp"
#include "commands/merge.hpp"
#include "commands/predict.hpp"
#include "commands/predict_tokens.hpp"
#include "commands/predict_variants.hpp"
#include "commands/pretrain.hpp"
#include "commands/show_attention.hpp"
#include "commands/tokenize.hpp"
#include "commands/train_tokenizer.hpp"

namespace bigbird::cli {

void add_commands(Program& program, const HandOver& tensors) {
    using examples::Task;
    setup_build_documents(program, run_build_documents);
    setup_train_tokenizer(program, run_train_tokenizer);
    setup_encode(program, run_encode);
    setup_decode(program, run_decode);
    setup_tokenize(program, run_tokenize);
    setup_pretrain(program, tensors);
    setup_evaluate_mlm(program, tensors);
    setup_build_promoters(program, run_build_promoters);
    setup_finetune(program, Task::promoter, tensors);
    setup_predict(program, Task::promoter, tensors);
    setup_evaluate(program, Task::promoter, run_evaluate);
    setup_build_chromatin(program, run_build_chromatin);
    setup_finetune(program, Task::chromatin, tensors);
    setup_predict(program, Task::chromatin, tensors);
    setup_evaluate(program, Task::chromatin, run_evaluate);
    setup_finetune_tokens(program, tensors);
    setup_predict_tokens(program, tensors);
    setup_evaluate_tokens(program, run_evaluate_tokens);
    setup_predict_variants(program, tensors);
    setup_embed(program, tensors);
    setup_merge(program, run_merge);
    setup_forward(program, tensors);
    setup_show_attention(program, run_show_attention);
    setup_info(program, run_info);
    setup_completion(program, run_completion);
    setup_help(program, run_help);
}

}  // namespace bigbird::cli
