// SPDX-License-Identifier: Apache-2.0
#include "options/finetune_options.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

namespace {

// Of bigbird-bins, where nothing else is given: chosen on test_data's validation bins (lib/benchmarks.md).
constexpr std::int64_t bins_steps = 500, bins_batch_size = 8;
constexpr double bins_learning_rate = 1e-3, bins_weight_decay = 0.05;
constexpr double bins_betas[] = {0.9, 0.98};

void add_network_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Network";
    add_choice_option(command, "--head", options.head, {"classification", "linear"},
                      "classification (two layers, as transformers') or linear (one layer, as the paper's)")
        ->group(group);
    add_choice_option(command, "--pooling", options.pooling, {"cls", "mean", "centre"},
                      "What the head sees: [CLS], the mean over all tokens, or over those of the 200 bases "
                      "about the bin's middle or the TSS (the last two unknown to transformers)")
        ->group(group);
    command.add_option("--dropout", options.dropout, "Instead of the pretrained model's")
        ->check(CLI::Range(0.0, 0.99))
        ->type_name("RATE")
        ->group(group);
    add_choice_option(command, "--dtype", options.dtype, {"auto", "fp32", "bf16"},
                      "What the encoder computes in; auto: bf16 on a GPU, fp32 on a CPU")
        ->group(group);
    add_attention_option(command, options.attention)->group(group);
}

void add_balance_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Balance";
    command
        .add_option("--positive-weight", options.positive_weight,
                    "Of a 1 in the loss, against a 0; balanced: each label's zeros / its ones, at most 100")
        ->check([](const std::string& text) {
            const bool fits = text == "balanced" || CLI::PositiveNumber(text).empty();
            return fits ? std::string() : "'" + text + "' is neither a number above 0 nor balanced";
        })
        ->type_name("WEIGHT|balanced")
        ->group(group);
    add_choice_option(command, "--sampling", options.sampling, {"uniform", "balanced"},
                      "uniform: each window once an epoch; balanced: windows with a label and without one "
                      "equally often")
        ->group(group);
    add_choice_option(command, "--strand-augmentation", options.strand_augmentation,
                      {"none", "reverse-complement"},
                      "reverse-complement: each window on a strand drawn anew in each epoch")
        ->group(group);
}

void add_linear_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Linear baselines";
    command.add_option("--word", options.word, "Bases of a k-mer; 0: 5 (kmer-ridge), 8 (gkm-svm)")
        ->check(CLI::Range(0, 12))
        ->type_name("N")
        ->group(group);
    command.add_option("--informative", options.informative, "Of them, those that are looked at; 0: 5")
        ->check(CLI::Range(0, 12))
        ->type_name("N")
        ->group(group);
    command
        .add_option("--penalty", options.penalty,
                    "Of kmer-ridge, a window; 0: the best on the rows of validation (0.01 without any)")
        ->check(CLI::NonNegativeNumber)
        ->type_name("X")
        ->group(group);
    command.add_option("--cost", options.cost, "C of gkm-svm")
        ->check(CLI::PositiveNumber)
        ->type_name("C")
        ->group(group);
    command
        .add_option("--most-windows", options.most_windows,
                    "That gkm-svm learns from; each takes up to 0.5 MB of memory")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
}

void add_evaluation_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Validation";
    command
        .add_option(
            "--evaluate-every", options.evaluate_every,
            "Steps between evaluations on the rows of validation; -1: ten a run, 0: at the end alone. "
            "The best model is kept")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->type_name("N")
        ->group(group);
    command
        .add_option("--patience", options.patience,
                    "Stop after this many evaluations without a better one; 0: never")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
}

}  // namespace

void add_finetune_options(CLI::App& command, FinetuneOptions& options, const std::string& baselines) {
    command
        .add_option("--examples", options.examples,
                    "Labelled windows, a folder of build-promoters or build-chromatin")
        ->required()
        ->type_name("DIR");
    command
        .add_option("--model", options.model,
                    "Pretrained model to start from: a run of pretrain, a checkpoint, or a model folder "
                    "(Hugging Face big_bird with a tokenizer.model or tokenizer.json)")
        ->type_name("DIR");
    command
        .add_option("--architecture", options.architecture, "bigbird, or what needs no --model: " + baselines)
        ->type_name("NAME");
    command
        .add_option("--window", options.window,
                    "Part of the examples' windows that the model sees, about the TSS or the bin's middle; "
                    "default: what a baseline was published for, else all")
        ->type_name("A:B");
    add_seed_option(command, options.seed);
    add_run_options(command, options.run);
    add_optimization_options(command, options.optimization, "Steps; 0: as many as --epochs are",
                             "Steps of the linear warm-up; -1: a tenth of all, at most 10000");
    command.add_option("--epochs", options.epochs, "Passes over the windows of train, where --steps is 0")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group("Optimization");
    add_network_options(command, options);
    add_balance_options(command, options);
    add_linear_options(command, options);
    add_evaluation_options(command, options);
    add_device_option(command, options.device);
    add_threads_option(command, options.threads);
    command
        .add_option("--processes", options.processes,
                    "Train with this many processes on this machine, one a GPU or sharing the CPU's threads; "
                    "the result does not depend on it beyond rounding")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    add_batch_tokens_option(command, options.batch_tokens);
}

void add_bins_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Models of bins";
    BinsOptions& bins = options.bins;
    command
        .add_option("--config", bins.config,
                    "Of bigbird-bins: tiny, small, base, large, or a JSON file that describes the network")
        ->type_name("PRESET|FILE")
        ->group(group);
    command
        .add_option("--window-bins", bins.window_bins, "Bins that are seen at once; 0: as --config has it")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
    command
        .add_option("--margin-bins", bins.margin_bins,
                    "Bins at each end of a window that are context alone in prediction; -1: an eighth")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 24))
        ->type_name("N")
        ->group(group);
    command.add_option("--shift", bins.shift, "Bases that a window of training is moved by, at most")
        ->check(CLI::NonNegativeNumber)
        ->type_name("BP")
        ->group(group);
    command
        .add_option("--average-weights", bins.average_weights,
                    "Decay a step of the running average of the weights that becomes the model; 0: none")
        ->check(CLI::Range(0.0, 0.999999))
        ->type_name("DECAY")
        ->group(group);
    command
        .add_option(
            "--motifs", bins.motifs,
            "Filters of the first convolution that begin as motifs which are found in the bins of train, "
            "at most; 0: all begin at random")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24))
        ->type_name("N")
        ->group(group);
    command.parse_complete_callback([&command, &options] {
        if (options.architecture != "bigbird-bins") return;
        const auto otherwise = [&](const char* option, auto& value, auto by_bins) {
            if (command.get_option(option)->count() == 0) value = by_bins;
        };
        OptimizationOptions& optimization = options.optimization;
        otherwise("--steps", optimization.steps, bins_steps);
        otherwise("--batch-size", optimization.batch_size, bins_batch_size);
        otherwise("--learning-rate", optimization.learning_rate, bins_learning_rate);
        otherwise("--schedule", optimization.decay, "cosine");
        otherwise("--weight-decay", optimization.weight_decay, bins_weight_decay);
        otherwise("--betas", optimization.betas, std::vector<double>{bins_betas[0], bins_betas[1]});
        otherwise("--positive-weight", options.positive_weight, "1");
        otherwise("--strand-augmentation", options.strand_augmentation, "reverse-complement");
    });
}

}  // namespace bigbird::cli
