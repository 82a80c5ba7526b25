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
        "Input: a safetensors file with input_ids (batch, length) and, optionally, attention_mask (1: "
        "real),\n"
        "token_type_ids and, for a Longformer, global_attention_mask (1: global). Input of a\n"
        "BigBirdForMultipleChoice has the shape (batch, choices, length). A BigBirdForQuestionAnswering "
        "also\n"
        "takes question_lengths (batch, 1).\n"
        "Output: hidden_states.0 (embeddings) to hidden_states.N, and the results of the model's head, named "
        "as\n"
        "in transformers: logits; prediction_logits and seq_relationship_logits; start_logits and\n"
        "end_logits; or pooler_output of a bare BigBirdModel. Logits of a BigBirdForMaskedLM are also\n"
        "written as prediction_logits. As in transformers, the length of the tensor, including padding,\n"
        "decides between full and sparse attention. No tokenizer is needed.");
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
