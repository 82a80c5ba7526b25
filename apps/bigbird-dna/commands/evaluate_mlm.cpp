// SPDX-License-Identifier: Apache-2.0
#include "commands/evaluate_mlm.hpp"

#include "commands/commands.hpp"
#include "options/document_options.hpp"
#include "options/option_groups.hpp"
#include "support/help_notes.hpp"

namespace bigbird::cli {

using pretraining::MlmEvaluationSpec;

namespace {

void add_masking_options(CLI::App& command, MlmEvaluationSpec& spec) {
    const HelpGroup in_group(command, "Masking");
    add_value(command, "--sequence-length", "N", spec.sequence_length,
              "Tokens per sequence, including [CLS] and [SEP]", CLI::PositiveNumber)
        ->default_str("as pretrained");
    add_value(command, "--masking-rate", "RATE", spec.masking.rate,
              "Share of tokens to predict; tokens with N are never chosen", CLI::Range(0.01, 0.9));
    const auto corrupt = [&spec](const std::string& text) {
        spec.masking.mask = text == "mask" ? 1 : 0.8;
        spec.masking.random = text == "mask" ? 0 : 0.1;
    };
    command
        .add_option_function<std::string>("--corrupt", corrupt,
                                          "mask: replace every chosen token by [MASK]; 80/10/10: as in "
                                          "pretraining, 80 % by [MASK], 10 % by another token, 10 % not")
        ->check(CLI::IsMember({"mask", "80/10/10"}))
        ->default_str("mask")
        ->type_name("mask|80/10/10");
    add_choice_option(command, "--nsp", spec.nsp, pretraining::pair_choices,
                      "Also score next-sentence prediction; model: if the model was pretrained with it");
    add_value(command, "--max-sequences", "N", spec.max_sequences,
              "Score this many sequences, drawn by --seed", CLI::NonNegativeNumber)
        ->default_str("all");
}

void add_baseline_options(CLI::App& command, MlmEvaluationSpec& spec) {
    const HelpGroup in_group(command, "Baselines");
    CLI::Option* documents =
        add_value(command, "--baseline-documents", "DIR|FILE", spec.baseline.documents,
                  "Training documents or token shards for baselines: Markov chains over bases and "
                  "n-gram models over tokens, scored like the model");
    add_value(command, "--baseline-corpus", "DIR", spec.baseline.corpus,
              "Like --baseline-documents, from token shards")
        ->excludes(documents);
    command.add_option("--baseline-orders", spec.baselines.orders, "Orders of the Markov chains, 0 to 12")
        ->delimiter(',')
        ->check(CLI::Range(0, 12))
        ->type_name("K,K…");
    command.add_option("--baseline-ngrams", spec.baselines.ngrams, "Tokens of the n-grams, 1 to 6")
        ->delimiter(',')
        ->check(CLI::Range(1, 6))
        ->type_name("N,N…");
    command
        .add_option("--baseline-two-sided", spec.baselines.two_sided,
                    "Bases on either side by which two-sided models tell a base, 0 to 6")
        ->delimiter(',')
        ->check(CLI::Range(0, 6))
        ->type_name("K,K…");
}

constexpr Examples examples{
    {{"Bits per base on held-out documents",
      "bigbird-dna evaluate-mlm --model pretrained --documents documents/held_out.txt.gz --max-sequences 64 "
      "--output held_out.json"},
     {"The same, compared with Markov chains learned from the training documents",
      "bigbird-dna evaluate-mlm --model pretrained --documents documents/held_out.txt.gz "
      "--baseline-documents documents/train.txt.gz --max-sequences 64 --output -"}}};

}  // namespace

void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run) {
    auto options = std::make_shared<EvaluateMlmOptions>();
    CLI::App& command = program.add<EvaluateMlmOptions>(
        "evaluate-mlm", "Pretraining",
        "Score a pretrained model on held-out documents: bits per base, accuracy, next-sentence "
        "accuracy.\nBits per base = sum of -log2 p over the masked tokens / number of bases in these tokens.",
        options, std::move(run));
    MlmEvaluationSpec& spec = options->spec;
    add_value(command, "-m,--model", "DIR", spec.model, "Run of pretrain, checkpoint, or model folder")
        ->required();
    CLI::Option* documents =
        add_value(command, "--documents", "DIR|FILE", spec.held_out.documents,
                  "Held-out token shards of tokenize, or documents, text or coordinates");
    add_value(command, "--corpus", "DIR", spec.held_out.corpus,
              "Instead of --documents: held-out token shards of tokenize")
        ->excludes(documents);
    add_reference_option(command, spec.references, false)
        ->description("Genome of the documents' coordinates");
    add_output_options(command, options->output, "Results, as JSON; - is standard output");
    add_value(command, "--token-scores", "FILE", options->token_scores,
              "Also write a table of all masked tokens: document, sentence, position, token, bits, found")
        ->group("Output");
    add_masking_options(command, spec);
    add_baseline_options(command, spec);
    add_seed_option(command, spec.seed);
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
    add_value(command, "--batch-tokens", "N", spec.batch_tokens, "Tokens computed at once, padding included",
              CLI::PositiveNumber)
        ->group("Resources");
    add_choice_option(command, "--dtype", spec.dtype, {"auto", "fp32", "bf16"},
                      "Number format. bf16: mixed precision; auto: bf16 on a GPU, fp32 on a CPU")
        ->group("Resources");
    command.parse_complete_callback([options] {
        take_shards(options->spec.held_out.documents, options->spec.held_out.corpus);
        take_shards(options->spec.baseline.documents, options->spec.baseline.corpus);
    });
    add_examples(command, examples);
    show_first(command,
               {"--model", "--documents", "--baseline-documents", "--max-sequences", "--output", "--device"});
}

}  // namespace bigbird::cli
