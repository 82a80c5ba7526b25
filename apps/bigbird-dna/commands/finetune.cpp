// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/sequence_options.hpp"
#include "options/training_options.hpp"
#include "support/tasks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/rows/window.hpp"
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

/// The default of a setting: "bin models, sequence models: cosine; tokens, others: linear".
template <typename Text>
std::string by_model(const Text& text) {
    const std::pair<const char*, FinetuneSpec> models[] = {{"bin models", tasks::bin_model_spec()},
                                                           {"sequence models", tasks::sequence_model_spec()},
                                                           {"tokens", tasks::token_model_spec()},
                                                           {"others", FinetuneSpec()}};
    std::string line, value;
    for (const auto& [name, spec] : models) {
        const std::string own = fmt::format("{}", text(spec));
        line += line.empty() ? "" : own == value ? ", " : ": " + value + "; ";
        line += name;
        value = own;
    }
    return line + ": " + value;
}

/// "for promoter: cnnprom, deepromoter; for chromatin: bigbird-bins".
std::string architectures_by_task() {
    std::string text;
    for (const auto& [task, word] : examples::task_choices)
        if (const std::string names = tasks::names_without_model(task); !names.empty())
            text += fmt::format("{}for {}: {}", text.empty() ? "" : "; ", word, names);
    return text;
}

void add_finetune_inputs(CLI::App& command, FinetuneOptions& options) {
    FinetuneSpec& spec = options.spec;
    add_value(command, "--examples", "DIR", spec.examples,
              "Example folder, from build-chromatin, build-tracks, build-promoters or build-sequences");
    add_value(command, "--annotations,--labels", "BED", spec.tokens.labels,
              "BED whose column 4 names the label of a row's bases, such as exon, donor or acceptor; rows "
              "of different labels must not overlap");
    add_reference_option(command, spec.tokens.references, false);
    add_value(command, "--include", "REGION", spec.tokens.include,
              "Contigs, regions (22:17000001-18000000) and BED files to train on; default: from the first to "
              "the last labeled base of each contig");
    add_value(command, "-m,--model", "DIR", spec.pretrained,
              "Pretrained model to start from: a run of pretrain, a checkpoint, a model folder, or the "
              "folder of a published encoder (docs/published-encoders.md)");
    add_value(command, "--architecture", "NAME", spec.architecture,
              "bigbird: fine-tune --model. Without --model, " + architectures_by_task())
        ->default_str(
            "chromatin: bigbird-bins; sequences: bigbird-sequence; with --model, and for promoter: bigbird");
    add_value(
        command, "--window", "A:B|BP", options.window,
        "Part of the examples' windows to read: A:B, relative to the bin's middle, the TSS or the middle of "
        "a sequence. For bin models and tokens: BP, the number of bases that the network reads at once")
        ->default_str(
            "all; baselines: as published; bin models: by --config or --model; tokens: as many as --model "
            "can read");
    add_hold_out_options(command, spec.tokens.validation, spec.tokens.test,
                         "bases of this sequence are not used for training");
}

/// Shows the defaults that depend on the model.
void show_training_defaults(CLI::App& command) {
    const FinetuneSpec bins = tasks::bin_model_spec(), coverage = tasks::coverage_model_spec();
    const auto show = [&](const char* option, const std::string& text) {
        option_of(command, option)->default_str(text);
    };
    show("--epochs", fmt::format("bin models: {}, at least {} steps (coverage: {} and {}); sequence models: "
                                 "6 to 15, for 250,000 rows in total; tokens: {}; others: 3 (chromatin: 30)",
                                 bins.epochs, bins.fewest_steps, coverage.epochs, coverage.fewest_steps,
                                 tasks::token_model_spec().epochs));
    show("--batch-size", by_model([](const FinetuneSpec& spec) { return spec.batch_size; }));
    show("--learning-rate",
         fmt::format("bin models: {} (coverage: {}); sequence models: {}; other models with "
                     "--model: 0.001 x (128 / hidden size)^2 (tiny: 0.001), with --lora at least 0.0005; "
                     "others: {}",
                     bins.learning_rate.peak, coverage.learning_rate.peak,
                     tasks::sequence_model_spec().learning_rate.peak, FinetuneSpec().learning_rate.peak));
    show("--schedule", by_model([](const FinetuneSpec& spec) {
             return word_of(training::decays, spec.learning_rate.decay);
         }));
    show("--weight-decay", by_model([](const FinetuneSpec& spec) { return spec.optimizer.weight_decay; }));
}

void add_network_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Network");
    add_choice_option(
        command, "--head", spec.head, {"classification", "linear", "bins"},
        "Layers after the encoder. classification: two layers, as in transformers; linear: one layer, as in "
        "the paper; bins (chromatin only): one layer that scores all bins of a window");
    add_choice_option(
        command, "--probe", spec.probe, tasks::probe_kinds,
        "For --architecture probe, a regression on embeddings. best: standardize embeddings and choose the "
        "penalty by cross-validation; geneb: fit it as the benchmark GENEB does");
    add_random_weights_option(command, spec);
    add_choice_option(
        command, "--pooling", spec.pooling, {"cls", "mean", "centre"},
        "Input of the head. cls: the token [CLS]; mean: the mean over all tokens; centre: the mean over the "
        "tokens of the 200 bases around the bin's middle or the TSS. transformers supports only cls");
    add_encoder_options(command, spec);
}

void add_balance_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Balance");
    const auto set_weight = [&spec](const std::string& text) {
        spec.positive_weight = text == "balanced" ? std::nullopt : std::optional(std::stod(text));
    };
    add_parsed(command, "--positive-weight", "WEIGHT|balanced", set_weight,
               "Loss weight of positives. balanced: negatives/positives per label, at most 100; for tokens, "
               "inverse label frequency, without calibration, which would undo the weights",
               "1; chromatin without a bin model: 8")
        ->check([](const std::string& text) {
            const bool fits = text == "balanced" || CLI::PositiveNumber(text).empty();
            return fits ? std::string() : "'" + text + "' is neither a number above 0 nor balanced";
        });
    add_choice_option(command, "--strand-augmentation", spec.both_strands, strand_augmentations,
                      "reverse-complement: draw each window's strand at random in every epoch")
        ->default_str("bin models: reverse-complement; others: none");
}

/// Parses "N" or, for gapped k-mers, "N:K".
void set_kmers(FinetuneSpec& spec, const std::string& text) {
    const bool records = traits_of(spec.task).has_records;
    const std::int64_t longest = records ? 8 : 12;
    std::int64_t length = 0, informative = 0;
    if (records || !parse_range(text, length, informative))
        length = parse_number<std::int64_t>(text).value_or(-1);
    if (std::min(length, informative) < 0 || std::max(length, informative) > longest)
        throw CLI::ValidationError(
            "--kmer-length", fmt::format("'{}' is {}a length up to {}{}", text, records ? "not " : "neither ",
                                         longest, records ? "" : " nor N:K"));
    spec.linear.word = static_cast<int>(length);
    spec.linear.informative = static_cast<int>(informative);
}

void add_linear_options(CLI::App& command, FinetuneOptions& options) {
    const HelpGroup in_group(command, "Linear baselines");
    add_value(command, "--kmer-length", "N|N:K", options.kmer_length,
              "Bases per k-mer; for gkm-svm, N:K: words of N bases, of which K positions are compared")
        ->default_str("5; gkm-svm: 8:5; sequences: 5 and 6");
    add_value(command, "--most-windows", "N", options.spec.linear.most_windows,
              "gkm-svm: maximum number of training windows; each needs up to 0.5 MB of memory",
              CLI::PositiveNumber);
}

/// Options of the networks that are trained from nothing.
void add_bases_options(CLI::App& command, FinetuneOptions& options) {
    const char* const group = "Bin models and sequence models (bigbird-bins, bigbird-sequence)";
    const HelpGroup in_group(command, group);
    FinetuneSpec& spec = options.spec;
    add_value(command, "--config", "PRESET|FILE", options.config,
              "Size of the network. bigbird-bins: tiny, small, base or large, or a JSON file; "
              "bigbird-sequence: a JSON file of sizes that differ from the defaults")
        ->default_str("bigbird-bins: tiny");
    add_choice_option(command, "--loss", options.loss,
                      {"poisson", "poisson-multinomial", "log-squared", "squared"},
                      "Training loss. Coverage: poisson for each bin; poisson-multinomial for the profile of "
                      "a window and its total; log-squared, the squared error of ln(1 + coverage). Numbers "
                      "of sequences: squared, or poisson for counts")
        ->default_str("coverage: poisson-multinomial; numbers: squared");
    add_value(command, "--teacher", "NPY", spec.bins.teacher,
              "Other models' scores of the train rows (predict --split train --output FILE.npy), to learn "
              "from in addition to the labels");
    add_value(
        command, "--motifs", "N", options.motifs,
        "Maximum number of first-layer filters to initialize with motifs from the training rows (0 means "
        "random initialization). In bigbird-bins, a label's best motif also feeds its score directly",
        CLI::Range(std::int64_t{0}, std::int64_t{1} << 24))
        ->default_str("chromatin: 48; sequences: 32");
    add_sequence_model_options(command, spec.sequence, group);
}

void add_finetune_options(CLI::App& command, FinetuneOptions& options) {
    FinetuneSpec& spec = options.spec;
    add_finetune_inputs(command, options);
    add_finetune_run_options(command, spec);
    show_training_defaults(command);
    add_network_options(command, spec);
    add_balance_options(command, spec);
    add_linear_options(command, options);
    add_bases_options(command, options);
    add_validation_options(command, spec);
    add_place_options(command, spec);
    only_for(command, "tokens", {"--annotations", "--reference", "--include", "--validation", "--test"});
    only_for(command, "chromatin, promoter, sequences",
             {"--examples", "--architecture", "--head", "--pooling", "--kmer-length"});
    only_for(command, "chromatin, promoter, tokens", {"--strand-augmentation"});
    only_for(command, "chromatin, promoter", {"--most-windows"});
    only_for(command, "chromatin, sequences", {"--config", "--loss", "--motifs"});
    only_for(command, "chromatin", {"--teacher"});
    only_for(command, "sequences", {"--strand", "--members"});
}

template <typename Value>
void set_unless_given(CLI::App& command, const char* option, Value& value, const Value& by_default) {
    if (!is_given(command, option)) value = by_default;
}

/// Takes from `usual` what is not given.
void set_training_defaults(CLI::App& command, FinetuneSpec& spec, const FinetuneSpec& usual) {
    set_unless_given(command, "--epochs", spec.epochs, usual.epochs);
    set_unless_given(command, "--epochs", spec.fewest_steps, usual.fewest_steps);
    set_unless_given(command, "--batch-size", spec.batch_size, usual.batch_size);
    set_unless_given(command, "--learning-rate", spec.learning_rate.peak, usual.learning_rate.peak);
    set_unless_given(command, "--schedule", spec.learning_rate.decay, usual.learning_rate.decay);
    set_unless_given(command, "--weight-decay", spec.optimizer.weight_decay, usual.optimizer.weight_decay);
    spec.optimizer.beta1 = usual.optimizer.beta1;
    spec.optimizer.beta2 = usual.optimizer.beta2;
    set_unless_given(command, "--positive-weight", spec.positive_weight, usual.positive_weight);
    set_unless_given(command, "--strand-augmentation", spec.both_strands, usual.both_strands);
    set_unless_given(command, "--head", spec.head, usual.head);
}

/// What the labels of the examples are: peaks, coverage, labels, classes or numbers; empty for folders of
/// other tasks, and without a folder, which are refused later.
std::string kind_of(const Json& manifest, examples::Task task) {
    if (!manifest.is_object() || manifest.value("task", Json()) != std::string(to_string(task))) return {};
    const Json target = manifest.value("target", Json("labels"));
    if (traits_of(task).has_bins) return target == "numbers" ? "coverage" : "peaks";
    return target.is_string() ? target.get<std::string>() : std::string();
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

/// Without --architecture, --model is fine-tuned or, without --model, a bin model of chromatin or a sequence
/// model is trained.
void choose_architecture(CLI::App& command, FinetuneSpec& spec) {
    const bool goes_on_from_bins = !spec.pretrained.empty() && is_bin_model(spec.pretrained);
    if (goes_on_from_bins && !traits_of(spec.task).has_bins) {
        throw ConfigError("--model " + spec.pretrained.string() +
                          " is a bin model, from which only examples of build-chromatin and build-tracks go "
                          "on: give a model of pretrain, or leave out --model");
    }
    if (is_given(command, "--architecture") || (!spec.pretrained.empty() && !goes_on_from_bins)) return;
    spec.architecture = tasks::usual_name(spec.task);
}

/// Options that only some models read, or that have an effect only beside other options or with some
/// examples.
struct Readers {
    std::vector<std::string> options;
    /// The second argument is kind_of().
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
                        (traits_of(spec.task).has_records && !spec.row().is_solved());
             }},
            {{"--loss"},
             [](const Spec&, const Kind& examples) { return examples.empty() || has_numbers(examples); },
             "coverage and numbers",
             of_examples},
            {{"--window"},
             [](const Spec& spec, const Kind&) {
                 return !traits_of(spec.task).has_records || spec.row().has_published_window();
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
        for (const char* option : {"--positive-weight", "--head", "--dropout", "--pooling", "--dtype",
                                   "--lora", "--lora-alpha", "--lora-dropout", "--probe", "--kmer-length",
                                   "--members", "--most-windows", "--config", "--motifs", "--teacher"})
            readers.push_back(
                {{option}, [option](const Spec& spec, const Kind&) { return spec.row().takes(option); }});
        return readers;
    }();
    return all;
}

std::string name_of_model(const FinetuneSpec& spec) {
    const std::string_view shown = spec.row().shown();
    return shown == spec.architecture ? "--architecture " + spec.architecture : std::string(shown);
}

/// "bigbird-bins, deepsea": the task's models that read the options.
std::string readers_of(const Readers& readers, const FinetuneSpec& spec, const std::string& examples) {
    std::string names;
    for (const tasks::Architecture& known : tasks::architectures) {
        FinetuneSpec other = spec;
        other.head = known.head.empty() ? "classification" : known.head;
        other.architecture = known.name;
        if (known.is_for(spec.task) && readers.reads(other, examples))
            names.append(names.empty() ? "" : ", ").append(known.shown());
    }
    return names;
}

/// Throws ConfigError if an option is given that has no effect beside the others. Call it when the command
/// line is parsed.
void refuse_idle_options(const CLI::App& command, const FinetuneSpec& spec, const std::string& examples) {
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

/// The model's default training.
FinetuneSpec usual_training(const FinetuneSpec& spec, const std::string& examples) {
    if (spec.row().scores_bins())
        return examples == "coverage" ? tasks::coverage_model_spec() : tasks::bin_model_spec();
    if (spec.row().has_members()) return tasks::sequence_model_spec();
    if (traits_of(spec.task).labels_bases) return tasks::token_model_spec();
    const bool chromatin = traits_of(spec.task).has_bins;
    FinetuneSpec usual;
    if (spec.row().reads_tokens()) usual.learning_rate.peak = 0;  // by the hidden size
    usual.epochs = chromatin ? 30 : 3;
    usual.positive_weight = chromatin ? 8 : 1;
    return usual;
}

/// Sets the options whose values depend on the task.
void read_texts(const FinetuneOptions& options, FinetuneSpec& spec) {
    const examples::TaskTraits& task = traits_of(spec.task);
    const bool chromatin = task.has_bins, records = task.has_records;
    if (task.labels_bases) {
        const std::string& text = options.window.empty() ? "0" : options.window;
        spec.tokens.window = parse_number<std::int64_t>(text).value_or(-1);
        if (spec.tokens.window < 0 || spec.tokens.window > rows::longest_window)
            throw CLI::ValidationError("--window", fmt::format("'{}' is not a number of bases up to {}", text,
                                                               rows::longest_window));
    } else if (!options.window.empty()) {
        spec.bins.window = chromatin ? parse_number<std::int64_t>(options.window).value_or(0) : 0;
        if (spec.bins.window <= 0) spec.window = rows::parse_window_bounds(options.window);
    }
    if (!options.kmer_length.empty()) set_kmers(spec, options.kmer_length);
    if (!options.loss.empty() && chromatin)
        spec.bins.loss = parse_choice(tasks::coverage_losses, "--loss of coverage", options.loss);
    if (!options.loss.empty() && records)
        spec.sequence.loss = parse_choice(tasks::number_losses, "--loss of numbers", options.loss);
    if (!options.config.empty() && chromatin) spec.bins.config = options.config;
    if (records) spec.sequence.config = options.config;
    if (chromatin) spec.bins.motifs = options.motifs.value_or(tasks::bin_model_spec().bins.motifs);
    if (records) spec.sequence.motifs = options.motifs.value_or(spec.sequence.motifs);
}

/// Calibration would undo the weights: a rare label would no longer be the most probable one where its weight
/// made it so.
void settle_weights_of_labels(CLI::App& command, FinetuneSpec& spec) {
    if (spec.positive_weight && *spec.positive_weight != 1)
        throw ConfigError(
            "--positive-weight of tokens is 1 or balanced: each base has one of several labels");
    if (!spec.positive_weight && !is_given(command, "--calibration")) spec.calibrates = false;
}

/// Chooses the model and its defaults by the given options.
void finish_finetune(CLI::App& command, FinetuneOptions& options) {
    FinetuneSpec& spec = options.spec;
    const Json manifest = manifest_in(spec.examples);
    const std::string task = settle_task(command, [&] {
        return task_of_labels(spec.tokens.labels, "--annotations", spec.examples, manifest);
    });
    spec.task = parse_choice(examples::task_choices, "the task", task);
    const bool bases = traits_of(spec.task).labels_bases;
    if (bases) {
        require_given(command, {"--annotations", "--reference", "--model"});
        spec.head = tasks::token_model_spec().head;
    } else {
        require_given(command, {"--examples"});
    }
    choose_architecture(command, spec);
    if (spec.architecture == tasks::probe_name && !is_given(command, "--pooling")) spec.pooling = "mean";
    if (spec.lora.rank == 0 && (is_given(command, "--lora-alpha") || is_given(command, "--lora-dropout")))
        throw ConfigError("--lora-alpha and --lora-dropout need --lora RANK");
    read_texts(options, spec);
    const std::string kind = kind_of(manifest, spec.task);
    refuse_idle_options(command, spec, kind);
    set_training_defaults(command, spec, usual_training(spec, kind));
    if (bases) settle_weights_of_labels(command, spec);
}

void add_finetune_aliases(CLI::App& command) {
    add_alias(command, "promoter",
              "Train a model that distinguishes promoters from other sequences.\nFine-tunes a pretrained "
              "model, or trains a baseline. The paper trained 711 steps of 256 windows (3 epochs) on TPUs; "
              "the default batch of 32 fits a CPU.",
              {{"The demo's model, from a pretrained one",
                "--examples promoter/examples --model pretrained --pooling mean --epochs 10 --batch-size 8 "
                "--output promoter-run"},
               {"A linear baseline over k-mers",
                "--examples promoter/examples --architecture kmer-ridge --output promoter-ridge"}});
    add_alias(command, "chromatin",
              "Train a model of the genome's bins: labels (peaks) or coverage.\nWithout --model, trains a "
              "bin model (bigbird-bins): convolutions and BigBird's attention score all bins of a window at "
              "once. With --model, fine-tunes a pretrained model.",
              {{"The demo's bin model, which needs no pretrained one",
                "--examples chromatin/examples --output my-chromatin"},
               {"A pretrained model that scores every bin of a window at once",
                "--head bins --model pretrained --window 3200 --batch-size 40 --steps 500 --examples "
                "chromatin/examples --output token-bins"}});
    add_alias(command, "sequences",
              "Train a model on sequences with classes, labels or numbers.\nWithout --model, the model is "
              "the mean of several networks that read bases and a regression on k-mers (bigbird-sequence). "
              "With --model, fine-tunes a pretrained model.",
              {{"A model of a table of sequences", "--examples enhancers --output enhancer-run"},
               {"A linear baseline over k-mers, for promoters, whose strand and positions matter",
                "--examples promoters --architecture kmer-logistic --output promoter-floor"}});
    add_alias(
        command, "tokens",
        "Fine-tune a pretrained model to label each base.\nLearns from the rows of a BED file. A token's "
        "target is the share of each label among its bases; a base gets its token's probabilities.",
        {{"Repeats and bound bases, labeled base by base",
          "--annotations ../test_data/tokens/labels.bed.gz --reference ../test_data/genome/22.fa.gz --model "
          "pretrained --validation 22:20000001-21000000 --test 22:21000001-22000000 --steps 400 --schedule "
          "cosine --strand-augmentation reverse-complement --output tokens-run"},
         {"Only one megabase, with the same total weight for each label",
          "--annotations ../test_data/tokens/labels.bed.gz --reference ../test_data/genome/22.fa.gz --model "
          "pretrained --include 22:17000001-18000000 --positive-weight balanced --steps 50 --output "
          "tokens-small"}});
}

}  // namespace

void setup_finetune(Program& program, Runner<FinetuneOptions> run) {
    const auto [command, options] = program.add<FinetuneOptions>(
        "finetune", "Peaks, coverage or sequences",
        "Train a model on labeled examples.\nThe examples determine the task; finetune-TASK --help describes "
        "each task.",
        "--examples --annotations --reference --include --model --architecture --validation --test --head "
        "--output --resume --epochs --batch-size --learning-rate --device --processes",
        {{"A bin model of the demo's chromatin examples",
          "--examples chromatin/examples --output my-chromatin"},
         {"A promoter model, from a pretrained one",
          "--examples promoter/examples --model pretrained --output my-promoter"}},
        std::move(run), finish_finetune);
    add_finetune_options(command, options);
    add_finetune_aliases(command);
}

}  // namespace bigbird::cli
