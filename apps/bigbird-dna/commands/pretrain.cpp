// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/corpus_options.hpp"
#include "options/training_options.hpp"

#include "bigbird/model/gpu/gpu_facts.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include <utility>

namespace bigbird::cli {

using pretraining::PretrainSpec;

namespace {

constexpr const char* by_config = "by --config";
constexpr const char* by_config_or_model = "by --config; with --model, as it was trained";

void add_corpora_options(CLI::App& command, pretraining::CorporaSpec& corpora) {
    add_value(command, "--documents", "DIR|FILE", corpora.documents,
              "Token shards of tokenize (the fastest input), or documents of build-documents (text or "
              "coordinates). Default: documents are drawn from --reference");
    add_reference_option(command, corpora.references, false)
        ->description("Genome that documents are drawn from, or that their coordinates refer to");
    add_input_options(command, corpora.input,
                      "Tokenizer of train-tokenizer (token shards and --model contain one)");
    add_region_options(command, corpora.drawing);
}

void add_network_options(CLI::App& command, PretrainSpec& spec) {
    const HelpGroup in_group(command, "Network");
    add_value(command, "-m,--model", "DIR", spec.model,
              "Start from the weights of this model (a run, a checkpoint or a model folder), for longer "
              "contexts or another genome. Its tokenizer and configuration are used; --config may change "
              "only dropout, the attention pattern, max_position_embeddings, rope_theta and rope_scaling");
    add_value(command, "--config", "NAME|FILE", spec.config,
              "Network and its training defaults: tiny, tiny-modern, modern, small, base, large, genomics, "
              "base-etc or a config.json (docs/pretraining.md)")
        ->default_str("tiny-modern on a CPU, modern on a GPU; with --model the model's");
    add_value(command, "--sequence-length", "N", spec.examples.sequence_length,
              "Tokens per sequence, including [CLS] and [SEP]", CLI::PositiveNumber)
        ->default_str(by_config_or_model);
    add_value(command, "--dropout", "RATE", spec.dropout, "Share of hidden values dropped in training",
              CLI::Range(0.0, 0.99))
        ->default_str(by_config);
    add_value(command, "--masking-rate", "RATE", spec.examples.masking.rate,
              "Share of tokens to predict (0.15 in the paper's text, 0.1 in its figure 7)",
              CLI::Range(0.01, 0.9));
    add_value(command, "--repeat-weight", "WEIGHT", spec.repeat_weight,
              "Loss weight of repeats, which are the soft-masked (lower-case) letters of --reference",
              CLI::Range(0.0, 100.0));
    add_choice_option(command, "--nsp", spec.examples.nsp, on_or_off, "Also train next-sentence prediction");
}

void add_evaluation_options(CLI::App& command, PretrainSpec& spec) {
    const HelpGroup in_group(command, "Evaluation");
    add_value(command, "--hold-out", "REGION", spec.corpora.hold_out,
              "If documents are drawn from --reference: contigs, regions (22:21000001-22000000) or BED files "
              "to leave out of training, and to score during it");
    add_value(command, "--evaluate-documents", "DIR|FILE", spec.corpora.evaluate_documents,
              "Held-out token shards or documents to score during training; the results go to metrics.jsonl "
              "(eval_loss …)");
    add_value(command, "--evaluate-every", "N", spec.evaluate_every, "Steps between evaluations",
              CLI::PositiveNumber);
}

void add_resource_options(CLI::App& command, PretrainSpec& spec) {
    const HelpGroup in_group(command, "Resources");
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
    add_value(command, "--micro-batch-size", "N", spec.micro_batch_size,
              "Number of sequences that the network computes at once; fewer sequences need less memory",
              CLI::NonNegativeNumber)
        ->default_str("what suits the device");
    add_choice_option(command, "--dtype", spec.dtype, {"auto", "fp32", "bf16"},
                      "Number format. bf16: mixed precision; auto: bf16 on a GPU, fp32 on a CPU");
    add_attention_option(command, spec.attention);
    add_choice_option(
        command, "--recompute", spec.recompute, on_or_off,
        "on: keep only each layer's input for the backward pass; less memory, a third more time");
    add_value(command, "--processes", "N", spec.processes,
              "Number of processes on this machine, one per GPU or sharing the CPU's threads; for several "
              "machines use torchrun or srun",
              CLI::PositiveNumber);
}

void add_optimizer_options(CLI::App& command, PretrainSpec& spec) {
    add_optimization_options(command, spec.batch_size, spec.learning_rate, spec.optimizer,
                             "Number of training steps");
    option_of(command, "--steps")->default_str(by_config);
    option_of(command, "--batch-size")
        ->description("Sequences per step, over all micro-batches")
        ->default_str(by_config_or_model);
    const HelpGroup in_group(command, "Optimization");
    add_value(command, "--warmup-steps", "N", spec.learning_rate.warmup_steps, "Steps of the linear warm-up",
              CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->default_str("a tenth of all, at most 10000");
    const auto set_betas = [&optimizer = spec.optimizer](const std::vector<double>& betas) {
        optimizer.beta1 = betas.at(0);
        optimizer.beta2 = betas.at(1);
    };
    command
        .add_option_function<std::vector<double>>(
            "--betas", set_betas, "AdamW: decay rates of the means of gradients and of their squares")
        ->expected(2)
        ->check(CLI::Range(0.0, 0.999999))
        ->type_name("B1 B2");
    add_value(command, "--epsilon", "EPSILON", spec.optimizer.epsilon, "AdamW: added to the denominator",
              CLI::PositiveNumber);
    add_value(command, "--epochs", "N", spec.epochs,
              "Epochs over the corpus, if --steps is not given [10 without --config]", CLI::PositiveNumber)
        ->excludes(option_of(command, "--steps"))
        ->default_str("");
    add_choice_option(command, "--optimizer", spec.optimizer.kind, training::optimizer_choices,
                      "muon: orthogonal updates (Muon) for the matrices within layers, AdamW for the rest");
    for (const char* option : {"--optimizer", "--learning-rate", "--betas", "--epsilon"})
        option_of(command, option)->default_str(by_config);
}

void add_checkpoint_options(CLI::App& command, training::RunSpec& run) {
    const HelpGroup in_group(command, "Run");
    add_value(command, "--checkpoint-every", "N", run.checkpoint_every, "Steps between checkpoints",
              CLI::PositiveNumber);
}

bool computes_on_gpu(const std::string& device) {
    return device.starts_with("cuda") || (device == "auto" && !model::ask_cuda_driver().gpus.empty());
}

/// If neither --config nor --model is given: chooses a preset for the device, and epochs.
void choose_config(CLI::App& command, PretrainSpec& spec) {
    if (!spec.model.empty() || !spec.config.empty()) return;
    spec.config = pretraining::default_config(computes_on_gpu(spec.device));
    if (!is_given(command, "--epochs")) spec.epochs = pretraining::default_epochs;
}

/// Takes defaults from --model or --config.
void set_defaults(CLI::App& command, PretrainSpec& spec) {
    take_shards(spec.corpora.documents, spec.corpora.corpus);
    take_shards(spec.corpora.evaluate_documents, spec.corpora.evaluate_corpus);
    if (spec.output.empty() && !spec.dry_run) throw CLI::RequiredError("--output");
    choose_config(command, spec);
    const training::OptimizerSpec by_default = pretraining::pretrain_defaults(spec.config).optimizer;
    if (!is_given(command, "--optimizer")) spec.optimizer.kind = by_default.kind;
    if (!is_given(command, "--epsilon")) spec.optimizer.epsilon = by_default.epsilon;
    if (!is_given(command, "--betas")) {
        spec.optimizer.beta1 = by_default.beta1;
        spec.optimizer.beta2 = by_default.beta2;
    }
}

}  // namespace

void setup_pretrain(Program& program, Runner<PretrainSpec> run) {
    const auto [command, spec] = program.add<PretrainSpec>(
        "pretrain", "A genome without labels",
        "Pretrain BigBird on a genome or on documents.\nTrains by masked tokens and next-sentence "
        "prediction. The same command, given again, resumes a stopped run from its newest checkpoint.",
        "--documents --reference --tokenizer --model --config --steps --epochs --batch-size --output "
        "--resume --max-hours --hold-out --evaluate-documents --device --processes --dry-run",
        {{"Two minutes of training on two cores; the same command resumes a stopped run",
          "--documents documents/train.txt.gz --tokenizer tokenizer/tokenizer.model --sequence-length 1024 "
          "--steps 500 --output my-model"},
         {"Expected time and memory of a larger network on this machine, without training it",
          "--documents documents/train.txt.gz --tokenizer tokenizer/tokenizer.model --config small "
          "--batch-size 8 --dry-run"}},
        std::move(run), set_defaults);
    add_corpora_options(command, spec.corpora);
    add_network_options(command, spec);
    add_optimizer_options(command, spec);
    add_run_options(command, spec.output, spec.run);
    option_of(command, "--output")->required(false);
    add_checkpoint_options(command, spec.run);
    add_evaluation_options(command, spec);
    add_seed_option(command, spec.seed);
    add_resource_options(command, spec);
    command.add_flag(
        "--dry-run", spec.dry_run,
        "Only print the numbers of parameters, operations and tokens, and the expected memory and time");
}

}  // namespace bigbird::cli
