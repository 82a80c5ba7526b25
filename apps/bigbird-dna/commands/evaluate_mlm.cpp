// SPDX-License-Identifier: Apache-2.0
#include "commands/evaluate_mlm.hpp"

namespace bigbird::cli {

namespace {

void add_masking_options(CLI::App& command, EvaluateMlmOptions& options) {
    const char* group = "Masking";
    command
        .add_option("--sequence-length", options.sequence_length,
                    "Tokens of a sequence, [CLS] and [SEP] included")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->default_str("as pretrained")
        ->group(group);
    command
        .add_option("--masking-rate", options.masking_rate,
                    "Share of tokens to predict; those with N are never chosen")
        ->check(CLI::Range(0.01, 0.9))
        ->type_name("RATE")
        ->group(group);
    command
        .add_option(
            "--corrupt", options.corrupt,
            "mask: every chosen token becomes [MASK]; 80/10/10: as in pretraining, some become another "
            "token or stay")
        ->check(CLI::IsMember({"mask", "80/10/10"}))
        ->type_name("mask|80/10/10")
        ->group(group);
    add_choice_option(command, "--nsp", options.nsp, {"model", "on", "off"},
                      "Pairs for next-sentence prediction; model: as pretrained")
        ->group(group);
    command
        .add_option("--max-sequences", options.max_sequences,
                    "Score this many sequences, drawn by --seed; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
}

void add_baseline_options(CLI::App& command, EvaluateMlmOptions& options) {
    const char* group = "Baselines";
    CLI::Option* documents =
        command
            .add_option("--baseline-documents", options.baseline_documents,
                        "Training documents: Markov chains over bases and n-gram models over tokens, learnt "
                        "from them, are scored beside the model")
            ->type_name("FILE")
            ->group(group);
    command.add_option("--baseline-corpus", options.baseline_corpus, "The same from token shards")
        ->excludes(documents)
        ->type_name("DIR")
        ->group(group);
    command.add_option("--baseline-orders", options.baseline_orders, "Orders of the chains, 0 to 12")
        ->delimiter(',')
        ->check(CLI::Range(0, 12))
        ->type_name("K,K…")
        ->group(group);
    command.add_option("--baseline-ngrams", options.baseline_ngrams, "Tokens of the n-grams, 1 to 6")
        ->delimiter(',')
        ->check(CLI::Range(1, 6))
        ->type_name("N,N…")
        ->group(group);
}

}  // namespace

void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run) {
    auto options = std::make_shared<EvaluateMlmOptions>();
    CLI::App& command = program.add<EvaluateMlmOptions>(
        "evaluate-mlm", "Pretraining",
        "Score a pretrained model on held-out documents: bits a character, accuracy, next-sentence "
        "accuracy.\n"
        "Bits a character = sum of -log2 p over masked tokens / bases that they spell.",
        options, std::move(run));
    command.add_option("--model", options->model, "Run of pretrain, checkpoint, or model folder")
        ->required()
        ->type_name("DIR");
    CLI::Option* documents =
        command.add_option("--documents", options->documents, "Held-out documents, text or coordinates")
            ->type_name("FILE");
    command.add_option("--corpus", options->corpus, "Or held-out token shards of tokenize")
        ->excludes(documents)
        ->type_name("DIR");
    add_reference_option(command, options->references, false)
        ->description("Genome that coordinate documents point into");
    add_output_options(command, options->output, "The figures, as JSON; - is standard output");
    add_masking_options(command, *options);
    add_baseline_options(command, *options);
    add_seed_option(command, options->seed);
    add_device_option(command, options->device);
    add_threads_option(command, options->threads);
    command.add_option("--batch-tokens", options->batch_tokens, "Tokens computed at once, padding included")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group("Resources");
    add_choice_option(command, "--dtype", options->dtype, {"auto", "fp32", "bf16"},
                      "bf16 is mixed precision; auto: bf16 on a GPU, fp32 on a CPU")
        ->group("Resources");
}

}  // namespace bigbird::cli
