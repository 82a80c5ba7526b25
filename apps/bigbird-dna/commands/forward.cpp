// SPDX-License-Identifier: Apache-2.0
#include "commands/forward.hpp"

#include "support/help_notes.hpp"

namespace bigbird::cli {

namespace {

constexpr Examples examples{
    {{"Every layer's hidden states for stored ids",
      "bigbird-dna forward --model ../test_data/model/pretraining --input "
      "../test_data/model/pretraining/cases/sparse_177.safetensors --output states.safetensors"},
     {"The same in double precision by the dense attention, to compare with",
      "bigbird-dna forward --model ../test_data/model/pretraining --input "
      "../test_data/model/pretraining/cases/sparse_177.safetensors --dtype fp64 --attention reference "
      "--output "
      "exact.safetensors"}}};

}  // namespace

void setup_forward(Program& program, Runner<ForwardOptions> run) {
    const auto options = std::make_shared<ForwardOptions>();
    CLI::App& command = program.add(
        "forward", "Tools", "Run a model over token ids and write every layer's hidden states and the logits",
        options, std::move(run));
    command.footer(
        "Input: a safetensors file with input_ids (batch, length) and, where wanted, attention_mask (1: "
        "real),\n"
        "token_type_ids and, for a Longformer, global_attention_mask (1: global).\n"
        "Output: hidden_states.0 (embeddings) to hidden_states.N, and prediction_logits "
        "with\n"
        "seq_relationship_logits, logits of a task model, or pooler_output of a bare BigBirdModel. As in\n"
        "transformers, the tensor's whole length decides between full and sparse attention. No tokenizer is\n"
        "needed.");
    add_model_option(command, options->model);
    command.add_option("--input", options->input, "Token ids in a safetensors file")
        ->required()
        ->type_name("FILE");
    add_output_options(command, options->output, "Hidden states and logits, a safetensors file");
    command.add_option("--dtype", options->type, "Arithmetic and outputs")
        ->check(CLI::IsMember({"fp64", "fp32", "bf16"}))
        ->type_name("fp64|fp32|bf16");
    add_attention_option(command, options->attention);
    add_device_option(command, options->device);
    add_threads_option(command, options->threads);
    add_examples(command, examples);
}

}  // namespace bigbird::cli
