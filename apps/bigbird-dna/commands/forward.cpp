// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

namespace bigbird::cli {

void setup_forward(Program& program, Runner<ForwardOptions> run) {
    const auto [command, options] = program.add<ForwardOptions>(
        "forward", rare_group, "Run a model over token ids and write hidden states and logits",
        "--model --input --output --device",
        {{"Every layer's hidden states for stored ids",
          "--model ../test_data/model/pretraining --input "
          "../test_data/model/pretraining/cases/sparse_177.safetensors --output states.safetensors"},
         {"The same in double precision with dense attention, for comparison",
          "--model ../test_data/model/pretraining --input "
          "../test_data/model/pretraining/cases/sparse_177.safetensors --dtype fp64 --attention reference "
          "--output exact.safetensors"}},
        std::move(run));
    command.footer(
        "Input: a safetensors file with input_ids (batch, length). Optional: attention_mask (1: a real\n"
        "token), token_type_ids and, for a Longformer, global_attention_mask (1: global). Tensors for a\n"
        "BigBirdForMultipleChoice have the shape (batch, choices, length). A BigBirdForQuestionAnswering\n"
        "also reads question_lengths (batch, 1).\n"
        "Output: hidden_states.0 (the embeddings) to hidden_states.N, and the results of the model's\n"
        "head. They have the names of transformers, such as logits, start_logits or pooler_output. A\n"
        "BigBirdForMaskedLM also writes its logits as prediction_logits. As in transformers, short inputs\n"
        "get full attention; the length includes padding. No tokenizer is needed.");
    add_model_option(command, options.model);
    add_value(command, "--input", "FILE", options.input, "Token ids in a safetensors file")->required();
    add_output_options(command, options.output, "Hidden states and logits, a safetensors file");
    add_choice_option(command, "--dtype", options.type, {"fp64", "fp32", "bf16"},
                      "Number format of computation and outputs");
    add_attention_option(command, options.attention);
    add_device_option(command, options.device);
    add_threads_option(command, options.threads);
}

}  // namespace bigbird::cli
