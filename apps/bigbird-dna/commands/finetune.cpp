// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune.hpp"

#include "options/finetune_options.hpp"
#include "options/idle_options.hpp"
#include "options/option_groups.hpp"
#include "options/training_options.hpp"
#include "support/help_notes.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bigbird::cli {

using task_models::FinetuneSpec;

namespace {

void add_network_options(CLI::App& command, FinetuneSpec& spec) {
    const char* group = "Network";
    const bool has_bins = spec.task == examples::Task::chromatin;
    add_choice_option(
        command, "--head", spec.head,
        has_bins ? std::vector<std::string>{"classification", "linear", "bins"}
                 : std::vector<std::string>{"classification", "linear"},
        std::string("classification (two layers, as transformers') or linear (one layer, as the "
                    "paper's)") +
            (has_bins ? "; bins: a layer for each bin of a window at once" : ""))
        ->group(group);
    add_random_weights_option(command, spec, group);
    add_choice_option(command, "--pooling", spec.pooling, {"cls", "mean", "centre"},
                      "What the head sees: [CLS], the mean over all tokens, or over those of the 200 bases "
                      "about the bin's middle or the TSS (the last two unknown to transformers)")
        ->group(group);
    add_encoder_options(command, spec, group);
}

void add_balance_options(CLI::App& command, FinetuneSpec& spec) {
    const char* group = "Balance";
    const auto set_weight = [&spec](const std::string& text) {
        spec.positive_weight = text == "balanced" ? std::nullopt : std::optional(std::stod(text));
    };
    command
        .add_option_function<std::string>(
            "--positive-weight", set_weight,
            "Of a 1 in the loss, against a 0; balanced: each label's zeros / its ones, at most 100")
        ->check([](const std::string& text) {
            const bool fits = text == "balanced" || CLI::PositiveNumber(text).empty();
            return fits ? std::string() : "'" + text + "' is neither a number above 0 nor balanced";
        })
        ->default_str(fmt::format("{}", spec.positive_weight.value()))
        ->type_name("WEIGHT|balanced")
        ->group(group);
    add_choice_option(command, "--sampling", spec.sampling, task_models::samplings,
                      "uniform: each window once an epoch; balanced: windows with a label and without one "
                      "equally often")
        ->group(group);
    add_choice_option(command, "--strand-augmentation", spec.both_strands, strand_augmentations,
                      "reverse-complement: each window on a strand drawn anew in each epoch")
        ->group(group);
}

void add_linear_options(CLI::App& command, FinetuneSpec& spec) {
    const char* group = "Linear baselines";
    command.add_option("--kmer-length", spec.linear.word, "Bases of a k-mer; 0: 5 (kmer-ridge), 8 (gkm-svm)")
        ->check(CLI::Range(0, 12))
        ->type_name("N")
        ->group(group);
    command
        .add_option("--informative-positions", spec.linear.informative,
                    "Of them, those that are looked at; 0: 5")
        ->check(CLI::Range(0, 12))
        ->type_name("N")
        ->group(group);
    command
        .add_option("--penalty", spec.linear.penalty,
                    "Of kmer-ridge, a window; 0: the best on the rows of validation (0.01 without any)")
        ->check(CLI::NonNegativeNumber)
        ->type_name("X")
        ->group(group);
    command.add_option("--cost", spec.linear.cost, "C of gkm-svm")
        ->check(CLI::PositiveNumber)
        ->type_name("C")
        ->group(group);
    command
        .add_option("--most-windows", spec.linear.most_windows,
                    "That gkm-svm learns from; each takes up to 0.5 MB of memory")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
}

/// `baselines`: the names of --architecture that the task's baselines have.
void add_finetune_options(CLI::App& command, FinetuneSpec& spec, const char* baselines) {
    command
        .add_option("--examples", spec.examples,
                    "Labelled windows, a folder of build-promoters or build-chromatin")
        ->required()
        ->type_name("DIR");
    command
        .add_option("--model", spec.pretrained,
                    "Pretrained model to start from: a run of pretrain, a checkpoint, or a model folder "
                    "(Hugging Face big_bird or longformer with a tokenizer.model or tokenizer.json)")
        ->type_name("DIR");
    command
        .add_option("--architecture", spec.architecture,
                    std::string("bigbird, or what needs no --model: ") + baselines)
        ->type_name("NAME");
    const auto set_window = [&spec](const std::string& text) {
        if (!text.empty()) spec.window = rows::parse_window_bounds(text);
    };
    command
        .add_option_function<std::string>(
            "--window", set_window,
            "Part of the examples' windows that the model sees, about the TSS or the bin's middle; "
            "default: what a baseline was published for, else all")
        ->type_name("A:B");
    add_seed_option(command, spec.seed);
    add_run_options(command, spec.output, spec.run);
    add_optimization_options(command, spec.batch_size, spec.learning_rate, spec.optimizer,
                             "Steps; 0: as many as --epochs are",
                             "Steps of the linear warm-up; -1: a tenth of all, at most 10000");
    command.add_option("--epochs", spec.epochs, "Passes over the windows of train, where --steps is 0")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group("Optimization");
    add_network_options(command, spec);
    add_balance_options(command, spec);
    add_linear_options(command, spec);
    add_validation_options(command, spec, "the rows of validation");
    add_place_options(command, spec);
}

/// Of bigbird-bins, where nothing else is given: chosen on test_data's validation bins
/// (docs/development/measurements.md).
void set_bins_defaults(CLI::App& command, FinetuneSpec& spec) {
    const auto otherwise = [&](const char* option, auto& value, auto by_bins) {
        if (option_of(command, option)->count() == 0) value = by_bins;
    };
    otherwise("--steps", spec.learning_rate.total_steps, 500);
    otherwise("--batch-size", spec.batch_size, 8);
    otherwise("--learning-rate", spec.learning_rate.peak, 1e-3);
    otherwise("--schedule", spec.learning_rate.decay, training::Decay::cosine);
    otherwise("--weight-decay", spec.optimizer.weight_decay, 0.05);
    otherwise("--betas", spec.optimizer.beta1, 0.9);
    otherwise("--betas", spec.optimizer.beta2, 0.98);
    otherwise("--positive-weight", spec.positive_weight, 1.0);
    otherwise("--strand-augmentation", spec.both_strands, true);
}

/// The same in --help, behind the others' defaults.
void show_bins_defaults(CLI::App& command) {
    FinetuneSpec spec;
    set_bins_defaults(command, spec);
    const auto show = [&](const char* option, const std::string& by_bins) {
        CLI::Option* const shown = option_of(command, option);
        shown->default_str(shown->get_default_str() + "; of models of bins " + by_bins);
    };
    show("--steps", fmt::format("{}", spec.learning_rate.total_steps));
    show("--batch-size", fmt::format("{}", spec.batch_size));
    show("--learning-rate", fmt::format("{}", spec.learning_rate.peak));
    show("--schedule", std::string(word_of(training::decays, spec.learning_rate.decay)));
    show("--weight-decay", fmt::format("{}", spec.optimizer.weight_decay));
    show("--betas", fmt::format("[{},{}]", spec.optimizer.beta1, spec.optimizer.beta2));
    show("--positive-weight", fmt::format("{}", spec.positive_weight.value_or(1)));
    show("--strand-augmentation", std::string(word_of(strand_augmentations, spec.both_strands)));
}

/// The options of --architecture bigbird-bins, and its defaults where others are not given.
void add_bins_options(CLI::App& command, FinetuneSpec& spec) {
    const char* group = "Models of bins (bigbird-bins, --head bins)";
    task_models::BinsSpec& bins = spec.bins;
    command
        .add_option("--config", bins.config,
                    "Of bigbird-bins: tiny, small, base, large, or a JSON file that describes the network")
        ->type_name("PRESET|FILE")
        ->group(group);
    command
        .add_option(
            "--window-bins", bins.window_bins,
            "Bins that are seen at once; 0: as --config has it, or as many as --model's positions hold")
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
        .add_option("--average-weights", bins.averaging,
                    "Decay per step of the running mean of the weights, which is the saved model; 0: none")
        ->check(CLI::Range(0.0, 0.999999))
        ->type_name("DECAY")
        ->group(group);
    bins.motifs = 48;  // as the defaults above
    command
        .add_option("--motifs", bins.motifs,
                    "Of bigbird-bins: filters of the first convolution that begin as motifs which are found "
                    "in the bins of train, at most; the one that tells a label best also goes straight to "
                    "its score; 0: all begin at random")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24))
        ->type_name("N")
        ->group(group);
}

/// What --help shows.
const std::vector<std::string> common_options{
    "--examples", "--model",      "--architecture", "--head",          "--pooling",
    "--output",   "--resume",     "--force",        "--steps",         "--epochs",
    "--seed",     "--batch-size", "--max-hours",    "--learning-rate", "--evaluate-every",
    "--patience", "--device",     "--threads",      "--processes",     "--options"};

/// What tells the tasks apart.
struct TaskCommand {
    examples::Task task;
    const char *name, *group, *description, *baselines;
    double epochs, positive_weight;
    Examples examples;
};
constexpr TaskCommand task_commands[] = {
    {examples::Task::promoter,
     "finetune-promoter",
     "Promoters",
     "Fine-tune a pretrained model, or train a baseline, to tell promoters from other sequence.\n"
     "The paper trained 711 steps of 256 windows (3 epochs) on TPUs; the default batch of 32 fits a CPU.",
     "the baselines cnnprom, deepromoter, gkm-svm, kmer-ridge",
     3,
     1,
     {{{"The demo's model, from a pretrained one",
        "bigbird-dna finetune-promoter --examples promoter/examples --model pretrained --pooling mean "
        "--epochs 10 --batch-size 8 --learning-rate 1e-3 --output promoter-run"},
       {"A linear model over k-mers, as the floor",
        "bigbird-dna finetune-promoter --examples promoter/examples --architecture kmer-ridge --output "
        "promoter-ridge"}}}},
    {examples::Task::chromatin,
     "finetune-chromatin",
     "Chromatin",
     "Fine-tune a pretrained model, or train a baseline, to predict the chromatin profile "
     "of bins, any number of labels at once.\n"
     "The paper trained 500,000 steps of 256 windows (29 epochs) on "
     "TPUs; the default batch of 32 fits a CPU.",
     "bigbird-bins (all bins of a window at once, by convolutions over bases below "
     "BigBird's attention), or the baselines deepsea, gkm-svm, kmer-ridge",
     30,
     8,
     {{{"The demo's model of bins, which needs no pretrained one",
        "bigbird-dna finetune-chromatin --architecture bigbird-bins --examples chromatin/examples --steps "
        "500 --evaluate-every 100 --output my-chromatin"},
       {"A pretrained model that scores every bin of a window at once",
        "bigbird-dna finetune-chromatin --head bins --model pretrained --window-bins 16 --batch-size 40 "
        "--steps 500 --examples chromatin/examples --output token-bins"}}}}};

}  // namespace

void setup_finetune(Program& program, examples::Task task, Runner<FinetuneSpec> run) {
    const TaskCommand& by_task = *std::ranges::find(task_commands, task, &TaskCommand::task);
    auto spec = std::make_shared<FinetuneSpec>();
    spec->task = task;
    spec->epochs = by_task.epochs;
    spec->positive_weight = by_task.positive_weight;
    CLI::App& command =
        program.add<FinetuneSpec>(by_task.name, by_task.group, by_task.description, spec, std::move(run));
    add_finetune_options(command, *spec, by_task.baselines);
    if (task == examples::Task::chromatin) add_bins_options(command, *spec);
    if (task == examples::Task::chromatin) show_bins_defaults(command);
    command.parse_complete_callback([&command, spec] {
        refuse_idle_options(command, *spec);
        if (spec->task == examples::Task::chromatin && spec->is_bins()) set_bins_defaults(command, *spec);
    });
    add_examples(command, by_task.examples);
    show_first(command, common_options);
}

}  // namespace bigbird::cli
