// SPDX-License-Identifier: Apache-2.0
#include "commands/pretrain.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

namespace {

constexpr const char* by_config = "by --config";

void add_input_options(CLI::App& command, PretrainOptions& options) {
    CLI::Option* corpus =
        command.add_option("--corpus", options.corpus, "Token shards of tokenize: the fastest input")
            ->type_name("DIR");
    command
        .add_option(
            "--documents", options.documents,
            "Or documents of build-documents, text or coordinates; without them, documents are drawn from "
            "--reference")
        ->excludes(corpus)
        ->type_name("FILE");
    add_reference_option(command, options.references, false)
        ->description("Genome that coordinate documents point into, or that documents are drawn from");
    add_tokenizer_option(command, options.tokenizer, false)
        ->description("Tokenizer that train-tokenizer made; a --corpus holds its own");
    add_document_options(command, options.drawing);
}

void add_network_options(CLI::App& command, PretrainOptions& options) {
    const char* group = "Network";
    command
        .add_option(
            "--config", options.config,
            "tiny (2 layers of 128), small (4 of 256), base (12 of 768), large (24 of 1024), genomics (the "
            "paper's, which is base), base-etc (base with 256 extra global tokens, blocks of 84), or a "
            "config.json; it also sets the defaults of --steps, --batch-size, --sequence-length and "
            "--learning-rate: tiny 1000, 8, 512, 1e-3; small 20000, 32, 1024, 5e-4; else 1000000, "
            "256, 4096, 1e-4, the paper's")
        ->type_name("NAME|FILE")
        ->group(group);
    command
        .add_option("--sequence-length", options.sequence_length,
                    "Tokens of a sequence, [CLS] and [SEP] included")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->default_str(by_config)
        ->group(group);
    command.add_option("--dropout", options.dropout, "Share of hidden values dropped while training")
        ->check(CLI::Range(0.0, 0.99))
        ->type_name("RATE")
        ->group(group);
    command
        .add_option("--masking-rate", options.masking_rate,
                    "Share of tokens to predict (the paper's text says 0.15, its figure 7 0.1)")
        ->check(CLI::Range(0.01, 0.9))
        ->type_name("RATE")
        ->group(group);
    command
        .add_option("--mask-share", options.mask_share, "Of the tokens to predict, those that become [MASK]")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE")
        ->group(group);
    command
        .add_option("--random-share", options.random_share,
                    "Of the tokens to predict, those that become another token; the rest stay")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE")
        ->group(group);
    command
        .add_option("--mask-spans", options.mask_spans,
                    "Choose whole spans of about this many tokens, 1 to 10; 0: single tokens")
        ->check(CLI::Range(0.0, 10.0))
        ->type_name("MEAN")
        ->group(group);
    add_choice_option(command, "--nsp", options.nsp, {"on", "off"},
                      "Next-sentence prediction beside the masked tokens")
        ->group(group);
}

void add_evaluation_options(CLI::App& command, PretrainOptions& options) {
    const char* group = "Evaluation";
    command
        .add_option(
            "--hold-out", options.hold_out,
            "With --reference alone: contigs, regions (22:21000001-22000000) or BED files that are left "
            "out of training and scored while it runs")
        ->type_name("REGION")
        ->group(group);
    command
        .add_option("--evaluate-corpus", options.evaluate_corpus, "Held-out token shards, scored likewise")
        ->type_name("DIR")
        ->group(group);
    command
        .add_option("--evaluate-documents", options.evaluate_documents,
                    "Held-out documents, scored while training into metrics.jsonl (eval_loss …)")
        ->type_name("FILE")
        ->group(group);
    command.add_option("--evaluate-every", options.evaluate_every, "Steps between evaluations")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command
        .add_option("--evaluate-sequences", options.evaluate_sequences,
                    "Sequences that are scored, the same every time; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
}

}  // namespace

void setup_pretrain(Program& program, Runner<PretrainOptions> run) {
    auto options = std::make_shared<PretrainOptions>();
    CLI::App& command = program.add<PretrainOptions>(
        "pretrain", "Pretraining",
        "Train a BigBird on documents: masked tokens and next-sentence prediction.\n"
        "A run that was stopped goes on from its newest checkpoint when the same command is given again.",
        options, std::move(run));
    add_input_options(command, *options);
    add_network_options(command, *options);
    add_optimization_options(command, options->optimization, "Steps of the whole run",
                             "Steps of the linear warm-up; -1: a tenth of all, at most 10000");
    command.get_option("--steps")->default_str(by_config);
    command.get_option("--batch-size")
        ->description("Sequences a step, over all micro-batches")
        ->default_str(by_config);
    command.get_option("--learning-rate")->default_str(by_config);
    add_run_options(command, options->run);
    add_evaluation_options(command, *options);
    add_seed_option(command, options->seed);
    add_device_option(command, options->device);
    add_threads_option(command, options->threads);
    command.get_option("--threads")
        ->description("Threads; 0: all that this process may use. Sums differ in their last bits");
    command
        .add_option("--micro-batch-size", options->micro_batch_size,
                    "Sequences computed at once, to bound the memory; 0: what suits the device")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group("Resources");
    add_choice_option(command, "--dtype", options->dtype, {"auto", "fp32", "bf16"},
                      "bf16 is mixed precision; auto: bf16 on a GPU, fp32 on a CPU")
        ->group("Resources");
    add_attention_option(command, options->attention)->group("Resources");
    add_choice_option(
        command, "--recompute", options->recompute, {"on", "off"},
        "on: keep only each layer's input for the backward pass; less memory, a third more time")
        ->group("Resources");
    command
        .add_option("--processes", options->processes,
                    "Train with this many processes on this machine, one a GPU or sharing the CPU's threads; "
                    "torchrun and srun do for several machines")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group("Resources");
    command.add_flag(
        "--dry-run", options->dry_run,
        "Print parameters, operations, memory, tokens and the time to expect, and train nothing");
}

}  // namespace bigbird::cli
