// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/sequence_options.hpp"
#include "options/training_options.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/tasks/files/task_files.hpp"
#include "bigbird/tasks/specs/architectures.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::cli {

using tasks::FinetuneSpec;

namespace {

void add_network_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Network");
    const bool has_bins = spec.task == examples::Task::chromatin;
    add_choice_option(
        command, "--head", spec.head,
        has_bins ? std::vector<std::string>{"classification", "linear", "bins"}
                 : std::vector<std::string>{"classification", "linear"},
        std::string("classification: two layers, as in transformers; linear: one layer, as in the paper") +
            (has_bins ? "; bins: one layer that scores all bins of a window" : ""));
    add_random_weights_option(command, spec);
    add_choice_option(command, "--pooling", spec.pooling, {"cls", "mean", "centre"},
                      "Input of the head: [CLS]; the mean over all tokens; or the mean over those of the 200 "
                      "bases around the bin's middle or the TSS. transformers supports only cls");
    add_encoder_options(command, spec);
}

void add_balance_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Balance");
    const auto set_weight = [&spec](const std::string& text) {
        spec.positive_weight = text == "balanced" ? std::nullopt : std::optional(std::stod(text));
    };
    add_parsed(command, "--positive-weight", "WEIGHT|balanced", set_weight,
               "Loss weight of positives. balanced: negatives/positives per label, at most 100",
               fmt::format("{}", spec.positive_weight.value()))
        ->check([](const std::string& text) {
            const bool fits = text == "balanced" || CLI::PositiveNumber(text).empty();
            return fits ? std::string() : "'" + text + "' is neither a number above 0 nor balanced";
        });
    if (spec.task == examples::Task::sequences) return;
    add_choice_option(command, "--strand-augmentation", spec.both_strands, strand_augmentations,
                      "reverse-complement: draw each window's strand at random in every epoch");
}

/// Parses "N" or, for gapped k-mers, "N:K".
void set_kmers(tasks::LinearSpec& linear, const std::string& text) {
    constexpr std::int64_t longest = 12;
    std::int64_t length = 0, informative = 0;
    if (!parse_range(text, length, informative)) length = parse_number<std::int64_t>(text).value_or(-1);
    if (std::min(length, informative) < 0 || std::max(length, informative) > longest)
        throw CLI::ValidationError("--kmer-length", "'" + text + "' is neither a length up to 12 nor N:K");
    linear.word = static_cast<int>(length);
    linear.informative = static_cast<int>(informative);
}

void add_linear_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Linear baselines");
    const bool records = spec.task == examples::Task::sequences;
    if (records) {
        add_value(command, "--kmer-length", "N", spec.linear.word, "Bases per k-mer", CLI::Range(0, 8))
            ->default_str("5 and 6");
        return;
    }
    add_parsed(
        command, "--kmer-length", "N|N:K", [&spec](const std::string& text) { set_kmers(spec.linear, text); },
        "Bases per k-mer; gkm-svm: N:K, K of N positions count", "5; gkm-svm: 8:5");
    add_value(command, "--most-windows", "N", spec.linear.most_windows,
              "gkm-svm: maximum number of training windows; each needs up to 0.5 MB of memory",
              CLI::PositiveNumber);
}

/// `baselines`: the values of --architecture for the task's baselines.
void add_finetune_options(CLI::App& command, FinetuneSpec& spec, const char* baselines) {
    const bool records = spec.task == examples::Task::sequences;
    add_value(command, "--examples", "DIR", spec.examples,
              "Example folder, from build-chromatin, build-tracks, build-promoters or build-sequences")
        ->required();
    add_value(command, "-m,--model", "DIR", spec.pretrained,
              "Pretrained model to start from: a run of pretrain, a checkpoint, or a model folder "
              "(Hugging Face big_bird or longformer with a tokenizer.model or tokenizer.json)");
    add_value(command, "--architecture", "NAME", spec.architecture,
              std::string("bigbird (fine-tune --model), or without --model: ") + baselines);
    const bool has_bins = spec.task == examples::Task::chromatin;
    const auto set_window = [&spec, has_bins](const std::string& text) {
        if (text.empty()) return;
        spec.bins.window = has_bins ? parse_number<std::int64_t>(text).value_or(0) : 0;
        if (spec.bins.window <= 0) spec.window = rows::parse_window_bounds(text);
    };
    add_parsed(command, "--window", has_bins ? "A:B|BP" : "A:B", set_window,
               records ? "Bases that a network of fixed length reads, relative to the middle of a sequence"
               : has_bins
                   ? "Part of the examples' windows that the model reads, relative to the bin's middle; bin "
                     "models: number of bases that the network reads at once"
                   : "Part of the examples' windows that the model reads, relative to the TSS",
               has_bins ? "a baseline's published window, else all; bin models: by --config or --model"
                        : "a baseline's published window, else all");
    add_finetune_run_options(command, spec);
    add_network_options(command, spec);
    add_balance_options(command, spec);
    add_linear_options(command, spec);
    add_validation_options(command, spec, "the validation rows");
    add_place_options(command, spec);
}

template <typename Value>
void set_unless_given(CLI::App& command, const char* option, Value& value, const Value& by_default) {
    if (!is_given(command, option)) value = by_default;
}

/// The defaults that `usual` has for training.
void set_training_defaults(CLI::App& command, FinetuneSpec& spec, const FinetuneSpec& usual) {
    set_unless_given(command, "--epochs", spec.epochs, usual.epochs);
    set_unless_given(command, "--batch-size", spec.batch_size, usual.batch_size);
    set_unless_given(command, "--learning-rate", spec.learning_rate.peak, usual.learning_rate.peak);
    set_unless_given(command, "--schedule", spec.learning_rate.decay, usual.learning_rate.decay);
    set_unless_given(command, "--weight-decay", spec.optimizer.weight_decay, usual.optimizer.weight_decay);
}

/// Shows a default in --help, before the other models' default.
void show_default(CLI::App& command, const char* option, const std::string& by_default) {
    CLI::Option* const shown = option_of(command, option);
    shown->default_str(by_default + " (other models: " + shown_default(*shown) + ")");
}

void show_training_defaults(CLI::App& command, const FinetuneSpec& usual, const std::string& epochs,
                            const std::string& learning_rate) {
    show_default(command, "--epochs", epochs);
    show_default(command, "--batch-size", fmt::format("{}", usual.batch_size));
    show_default(command, "--learning-rate", learning_rate);
    show_default(command, "--schedule", std::string(word_of(training::decays, usual.learning_rate.decay)));
    show_default(command, "--weight-decay", fmt::format("{}", usual.optimizer.weight_decay));
}

/// Options of models of sequences.
void add_sequence_options(CLI::App& command, FinetuneSpec& spec) {
    tasks::SequenceSpec& sequence = spec.sequence;
    add_choice_option(command, "--loss", sequence.loss, tasks::number_losses,
                      "Loss for numbers; poisson is for counts");
    const char* group = "Sequence models (bigbird-sequence)";
    add_sequence_model_options(command, sequence, group);
    const HelpGroup in_group(command, group);
    add_value(command, "--config", "FILE", sequence.config,
              "JSON file of network sizes that differ from the defaults");
    add_value(command, "--motifs", "N", sequence.motifs,
              "Maximum number of first-layer filters initialized with motifs from the training rows (0 "
              "means random initialization)",
              CLI::Range(std::int64_t{0}, std::int64_t{1} << 20));
    const FinetuneSpec usual = tasks::sequence_model_spec();
    option_of(command, "--architecture")->default_str("bigbird-sequence; with --model: bigbird");
    show_training_defaults(command, usual, "6 to 15, for 250,000 rows in total",
                           fmt::format("{}", usual.learning_rate.peak));
}

/// What the labels of the examples are: peaks, coverage, labels, classes or numbers; empty for folders of
/// other tasks and for what cannot be read, which are refused later.
std::string kind_of_examples(const FinetuneSpec& spec) {
    std::error_code ignored;
    const std::filesystem::path manifest = spec.examples / "manifest.json";
    if (spec.examples.empty() || !std::filesystem::is_regular_file(manifest, ignored)) return {};
    const Json json = read_json(manifest);
    if (!json.is_object() || json.value("task", Json()) != std::string(to_string(spec.task))) return {};
    const Json target = json.value("target", Json("labels"));
    if (spec.task == examples::Task::chromatin) return target == "numbers" ? "coverage" : "peaks";
    return target.is_string() ? target.get<std::string>() : std::string();
}

void set_bins_defaults(CLI::App& command, FinetuneSpec& spec) {
    const bool coverage = kind_of_examples(spec) == "coverage";
    const FinetuneSpec bins = coverage ? tasks::coverage_model_spec() : tasks::bin_model_spec();
    set_training_defaults(command, spec, bins);
    set_unless_given(command, "--epochs", spec.fewest_steps, bins.fewest_steps);
    spec.optimizer.beta1 = bins.optimizer.beta1;
    spec.optimizer.beta2 = bins.optimizer.beta2;
    set_unless_given(command, "--positive-weight", spec.positive_weight, bins.positive_weight);
    set_unless_given(command, "--strand-augmentation", spec.both_strands, bins.both_strands);
}

/// Whether a folder, or the model/ in it, holds a bin model. What cannot be read is refused later.
bool is_bin_model(const std::filesystem::path& path) {
    for (const std::filesystem::path& folder : {path, path / "model"}) {
        std::error_code ignored;
        if (!std::filesystem::exists(folder / "config.json", ignored)) continue;
        const Json task = tasks::task_description(folder);
        return task.is_object() && task.value("architecture", Json()) == tasks::bins_name;
    }
    return false;
}

/// Without --architecture, finetune-chromatin and finetune-sequences fine-tune --model or, without --model,
/// train a bin model or a sequence model.
void choose_architecture(CLI::App& command, FinetuneSpec& spec) {
    const bool goes_on_from_bins = !spec.pretrained.empty() && is_bin_model(spec.pretrained);
    if (goes_on_from_bins && spec.task != examples::Task::chromatin) {
        throw ConfigError("--model " + spec.pretrained.string() +
                          " is a bin model, from which only examples of build-chromatin and build-tracks go "
                          "on: give a model of pretrain, or leave out --model");
    }
    if (is_given(command, "--architecture") || (!spec.pretrained.empty() && !goes_on_from_bins)) return;
    if (spec.task == examples::Task::chromatin) spec.architecture = tasks::bins_name;
    if (spec.task == examples::Task::sequences) spec.architecture = tasks::sequence_name;
}

/// Options only for bin models.
void add_bins_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Bin models (bigbird-bins, --head bins)");
    tasks::BinsSpec& bins = spec.bins;
    add_value(command, "--config", "PRESET|FILE", bins.config,
              "Size of a bigbird-bins network: tiny, small, base or large, or a JSON file that describes it");
    add_choice_option(command, "--loss", bins.loss, tasks::coverage_losses,
                      "For coverage. poisson: the coverage of each bin; poisson-multinomial: the profile "
                      "within a window, and its total; log-squared: squared error of ln(1 + coverage)");
    add_value(
        command, "--teacher", "NPY", bins.teacher,
        "Probabilities of the train rows by other models (predict --split train --output FILE.npy); the "
        "network learns from the labels and from these");
    bins.motifs = tasks::bin_model_spec().bins.motifs;
    add_value(command, "--motifs", "N", bins.motifs,
              "bigbird-bins: maximum number of first-layer filters initialized with motifs from the training "
              "bins; each label's best motif also feeds its score directly (0 means random initialization)",
              CLI::Range(std::int64_t{0}, std::int64_t{1} << 24));
    const FinetuneSpec usual = tasks::bin_model_spec(), coverage = tasks::coverage_model_spec();
    option_of(command, "--architecture")->default_str("bigbird-bins; with --model: bigbird");
    show_training_defaults(
        command, usual,
        fmt::format("{}, at least {} steps; of coverage {} and {}", usual.epochs, usual.fewest_steps,
                    coverage.epochs, coverage.fewest_steps),
        fmt::format("{}, of coverage {}", usual.learning_rate.peak, coverage.learning_rate.peak));
    show_default(command, "--positive-weight", fmt::format("{}", usual.positive_weight.value_or(1)));
    show_default(command, "--strand-augmentation",
                 std::string(word_of(strand_augmentations, usual.both_strands)));
}

/// Options that only some models read, or that have an effect only beside other options or with some
/// examples.
struct Readers {
    std::vector<std::string> options;
    /// The second argument is kind_of_examples().
    std::function<bool(const FinetuneSpec&, const std::string&)> reads;
    const char* belong_to = nullptr;  ///< nullptr: the task's models that read them
    const char* with = nullptr;       ///< makes them idle; nullptr: the model, of_examples: the examples
};
constexpr const char* of_examples = "examples of ";

bool has_numbers(const std::string& examples) {
    return examples == "numbers" || examples == "coverage";
}

const std::vector<Readers>& all_readers() {
    using Spec = FinetuneSpec;
    using Kind = std::string;
    static const std::vector<Readers> all = [] {
        std::vector<Readers> readers{
            {{"--steps", "--epochs", "--batch-size", "--learning-rate", "--schedule", "--weight-decay",
              "--evaluate-every", "--patience", "--strand-augmentation", "--max-hours"},
             [](const Spec& spec, const Kind&) { return !spec.row().is_solved(); },
             "models that are trained step by step"},
            {{"--patience"},
             [](const Spec& spec, const Kind&) { return spec.evaluate_every != 0; },
             "runs with several evaluations",
             "--evaluate-every 0"},
            {{"--positive-weight", "--calibration"},
             [](const Spec&, const Kind& examples) { return !has_numbers(examples); },
             "peaks, labels and classes",
             of_examples},
            {{"--kmer-length"},
             [](const Spec& spec, const Kind&) {
                 return !spec.row().has_members() || spec.sequence.loss != tasks::NumberLoss::poisson;
             },
             "--loss squared",
             "--loss poisson"},
            {{"--motifs"},
             [](const Spec& spec, const Kind& examples) {
                 return !spec.row().has_members() || examples != "numbers";
             },
             "labels and classes",
             of_examples},
            {{"--config", "--motifs", "--window"},
             [](const Spec& spec, const Kind&) {
                 return spec.row().reads_tokens() || !spec.row().scores_bins() || spec.pretrained.empty();
             },
             "models that begin without --model"},
            {{"--loss"},
             [](const Spec& spec, const Kind&) {
                 return spec.row().scores_bins() ||
                        (spec.task == examples::Task::sequences && !spec.row().is_solved());
             }},
            {{"--loss"},
             [](const Spec&, const Kind& examples) { return examples.empty() || has_numbers(examples); },
             "coverage and numbers",
             of_examples},
            {{"--window"},
             [](const Spec& spec, const Kind&) {
                 return spec.task != examples::Task::sequences || spec.row().has_published_window();
             }},
            {{"--window"},
             [](const Spec& spec, const Kind& examples) {
                 return !spec.row().is_solved() || spec.row().takes("--most-windows") ||
                        examples != "coverage";
             },
             "peaks",
             of_examples},
            {{"--kmer-length"},
             [](const Spec& spec, const Kind& examples) {
                 return spec.linear.informative == 0 || examples != "coverage";
             },
             "peaks as N:K, for coverage as N",
             of_examples}};
        for (const char* option :
             {"--positive-weight", "--head", "--dropout", "--pooling", "--dtype", "--kmer-length",
              "--members", "--most-windows", "--config", "--motifs", "--teacher"})
            readers.push_back(
                {{option}, [option](const Spec& spec, const Kind&) { return spec.row().takes(option); }});
        return readers;
    }();
    return all;
}

std::string name_of_model(const FinetuneSpec& spec) {
    return spec.row().with_head ? std::string(spec.row().shown()) : "--architecture " + spec.architecture;
}

/// The differences between the tasks' commands.
struct FinetuneCommand {
    examples::Task task;
    const char *name, *group, *description, *baselines;
    double epochs, positive_weight;
    std::vector<Example> examples;
};
const FinetuneCommand finetune_commands[] = {
    {examples::Task::promoter,
     "finetune-promoter",
     task_group,
     "Train a model that distinguishes promoters from other sequences.\nFine-tunes a pretrained model, or "
     "trains a baseline. The paper trained 711 steps of 256 windows (3 epochs) on TPUs; the default batch of "
     "32 fits a CPU.",
     "the baselines cnnprom, deepromoter, gkm-svm, kmer-ridge",
     3,
     1,
     {{"The demo's model, from a pretrained one",
       "--examples promoter/examples --model pretrained --pooling mean --epochs 10 --batch-size 8 "
       "--learning-rate 1e-3 --output promoter-run"},
      {"A linear baseline over k-mers",
       "--examples promoter/examples --architecture kmer-ridge --output promoter-ridge"}}},
    {examples::Task::chromatin,
     "finetune-chromatin",
     task_group,
     "Train a model of the genome's bins: labels (peaks) or coverage.\nWithout --model, "
     "trains a bin model (bigbird-bins): convolutions and BigBird's attention score all bins of a window at "
     "once. With --model, fine-tunes a pretrained model.",
     "bigbird-bins, or the baselines deepsea, gkm-svm, kmer-ridge",
     30,
     8,
     {{"The demo's bin model, which needs no pretrained one",
       "--examples chromatin/examples --output my-chromatin"},
      {"A pretrained model that scores every bin of a window at once",
       "--head bins --model pretrained --window 3200 --batch-size 40 --steps 500 --examples "
       "chromatin/examples --output token-bins"}}},
    {examples::Task::sequences,
     "finetune-sequences",
     task_group,
     "Train a model on sequences with classes, labels or numbers.\nWithout --model, the model is the mean of "
     "several networks that read bases and a regression on k-mers (bigbird-sequence). With --model, "
     "fine-tunes a pretrained model.",
     "bigbird-sequence, or the baselines kmer-logistic, kmer-ridge, deepsea, cnnprom, deepromoter",
     3,
     1,
     {{"A model of a table of sequences", "--examples enhancers --output enhancer-run"},
      {"A linear baseline over k-mers, for promoters, whose strand and positions matter",
       "--examples promoters --architecture kmer-logistic --output promoter-floor"}}}};

/// "bigbird-bins, deepsea": the task's models that read the options.
std::string readers_of(const Readers& readers, const FinetuneSpec& spec, const std::string& examples) {
    std::string names;
    for (const tasks::Architecture& known : tasks::architectures) {
        FinetuneSpec other = spec;
        other.head = known.with_head ? "bins" : "classification";
        other.architecture = known.name;
        if (known.is_for(spec.task) && readers.reads(other, examples))
            names.append(names.empty() ? "" : ", ").append(known.shown());
    }
    return names;
}

/// Throws ConfigError if an option is given that has no effect beside the others. Call it when the command
/// line is parsed.
void refuse_idle_options(const CLI::App& command, const FinetuneSpec& spec) {
    const std::string examples = kind_of_examples(spec);
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->count() > 0; })) {
        for (const Readers& readers : all_readers()) {
            if (readers.reads(spec, examples) ||
                std::ranges::find(readers.options, option->get_name()) == readers.options.end())
                continue;
            const std::string with = readers.with == nullptr       ? name_of_model(spec)
                                     : readers.with == of_examples ? of_examples + examples
                                                                   : readers.with;
            throw ConfigError(
                option->get_name() + " has no effect with " + with + ": it is for " +
                (readers.belong_to == nullptr ? readers_of(readers, spec, examples) : readers.belong_to));
        }
    }
}

/// Chooses the model and its defaults by the given options.
void choose_defaults(CLI::App& command, FinetuneSpec& spec) {
    choose_architecture(command, spec);
    refuse_idle_options(command, spec);
    if (spec.task == examples::Task::chromatin && spec.row().scores_bins()) set_bins_defaults(command, spec);
    if (spec.row().has_members()) set_training_defaults(command, spec, tasks::sequence_model_spec());
}

}  // namespace

void setup_finetune(Program& program, examples::Task task, Runner<FinetuneSpec> run) {
    const FinetuneCommand& by_task = *std::ranges::find(finetune_commands, task, &FinetuneCommand::task);
    const auto [command, spec] =
        program.add<FinetuneSpec>(by_task.name, by_task.group, by_task.description,
                                  "--examples --model --architecture --head --output --resume --epochs "
                                  "--batch-size --learning-rate --device --processes",
                                  by_task.examples, std::move(run), choose_defaults);
    spec.task = task;
    spec.epochs = by_task.epochs;
    spec.positive_weight = by_task.positive_weight;
    add_finetune_options(command, spec, by_task.baselines);
    if (task == examples::Task::chromatin) add_bins_options(command, spec);
    if (task == examples::Task::sequences) add_sequence_options(command, spec);
}

}  // namespace bigbird::cli
