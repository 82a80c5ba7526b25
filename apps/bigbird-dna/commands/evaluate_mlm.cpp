// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/corpus_options.hpp"

namespace bigbird::cli {

using pretraining::MlmEvaluationSpec;

namespace {

void add_masking_options(CLI::App& command, MlmEvaluationSpec& spec) {
    const HelpGroup in_group(command, "Masking");
    add_value(command, "--sequence-length", "N", spec.sequence_length,
              "Tokens per sequence, including [CLS] and [SEP]", CLI::PositiveNumber)
        ->default_str("as pretrained");
    add_value(command, "--max-sequences", "N", spec.max_sequences,
              "Score only N sequences, drawn at random by --seed", CLI::NonNegativeNumber)
        ->default_str("all");
}

void add_baseline_options(CLI::App& command, MlmEvaluationSpec& spec) {
    const HelpGroup in_group(command, "Baselines");
    add_value(command, "--baseline-documents", "DIR|FILE", spec.baseline.documents,
              "Training documents or token shards for baselines: Markov chains over bases and "
              "n-gram models over tokens, scored like the model");
}

/// Tells documents and token shards apart.
void sort_inputs(CLI::App&, EvaluateMlmOptions& options) {
    take_shards(options.spec.held_out.documents, options.spec.held_out.corpus);
    take_shards(options.spec.baseline.documents, options.spec.baseline.corpus);
}

}  // namespace

void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run) {
    const auto [command, options] = program.add<EvaluateMlmOptions>(
        "evaluate-mlm", "A genome without labels",
        "Score a pretrained model on held-out documents.\nMeasures bits per base, accuracy and next-sentence "
        "accuracy. Bits per base = sum of -log2 p over the masked tokens / number of bases in these tokens.",
        "--model --documents --baseline-documents --max-sequences --output --device",
        {{"Bits per base on held-out documents",
          "--model pretrained --documents documents/held_out.txt.gz --max-sequences 64 --output "
          "held_out.json"},
         {"The same, compared with Markov chains learned from the training documents",
          "--model pretrained --documents documents/held_out.txt.gz --baseline-documents "
          "documents/train.txt.gz --max-sequences 64 --output -"}},
        std::move(run), sort_inputs);
    MlmEvaluationSpec& spec = options.spec;
    add_value(command, "-m,--model", "DIR", spec.model, "Run of pretrain, checkpoint, or model folder")
        ->required();
    add_value(command, "--documents", "DIR|FILE", spec.held_out.documents,
              "Held-out sequence: a FASTA, token shards of tokenize, or documents of build-documents (text "
              "or coordinates)");
    add_reference_option(command, spec.references, false)
        ->description("Reference genome, if --documents holds coordinates");
    add_output_options(command, options.output, "Results, as JSON; - is standard output");
    add_value(command, "--token-scores", "FILE", options.token_scores,
              "Also write a table of all masked tokens: document, sentence, position, token, bits, found")
        ->group("Output");
    add_masking_options(command, spec);
    add_baseline_options(command, spec);
    add_seed_option(command, spec.seed);
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
}

}  // namespace bigbird::cli
