// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/sequence_options.hpp"
#include "options/training_options.hpp"

#include <utility>
#include <vector>

namespace bigbird::cli {

using tasks::TrainSpec;

namespace {

void add_peak_options(CLI::App& command, TrainSpec& spec) {
    CLI::Option* peaks =
        add_value(command, "--peaks", "SHEET|BED", spec.examples.peaks,
                  "Peaks: a sheet with the columns name, group and path, or BED or narrowPeak files");
    CLI::Option* signal = add_value(command, "--signal", "SHEET|FILE", spec.tracks.signals,
                                    "Coverage: a sheet with the columns name and path, or reads (BAM, CRAM), "
                                    "fragments, bigWig or bedGraph (see build-tracks). With --peaks, trains "
                                    "a model of cut-site profiles, corrected for the enzyme's bias");
    CLI::Option* tss = add_value(command, "--tss", "BED|GTF|GFF3", spec.promoters.tss,
                                 "Instead of --peaks: transcription start sites, to train a promoter model; "
                                 "other windows of the genome are the negatives (see build-promoters)")
                           ->excludes(peaks)
                           ->excludes(signal);
    add_reference_option(command, spec.examples.references, false);
    peaks->needs(option_of(command, "--reference"));
    signal->needs(option_of(command, "--reference"));
    tss->needs(option_of(command, "--reference"));
    for (CLI::Option* of_bins : add_bin_region_options(command, spec.examples.include, spec.examples.exclude))
        of_bins->excludes(tss);
    command.add_flag("--skip-invalid", spec.examples.skip_invalid, skips_mismatches);
    add_value(command, "--bin", "BP", spec.tracks.bin, "Bin size for --signal", CLI::PositiveNumber)
        ->needs(signal)
        ->excludes(peaks);
    for (CLI::Option* of_signal : add_read_options(command, spec.tracks.reading))
        of_signal->needs(signal);
    add_value(command, "--bias", "auto|none|kmers:N|MODEL", spec.profiles.bias,
              "Model of the enzyme's sequence bias. auto: train one on background regions; kmers:N: a table "
              "of N-mers; MODEL: file or folder of ChromBPNet's bias model")
        ->default_str("auto for --assay atac and dnase, else none")
        ->needs(signal)
        ->needs(peaks);
    add_negatives_option(
        command, spec.examples.negatives,
        "Evaluate on the bins with a peak and RATIO times as many bins without one, instead of all bins. "
        "gc:RATIO: the bins without a peak have the same GC content (see build-chromatin)")
        ->needs(peaks);
    add_value(command, "--min-positives", "N", spec.min_positives,
              "Leave labels with fewer than N positive test bins out of means, unless all labels have fewer",
              CLI::PositiveNumber)
        ->needs(peaks)
        ->excludes(signal);
}

/// Options only for --table or --fasta.
void add_sequence_options(CLI::App& command, TrainSpec& spec) {
    const auto refuse = [&command](const std::vector<CLI::Option*>& options) {
        for (CLI::Option* option : options)
            for (const char* other : {"--peaks", "--signal", "--tss"})
                option->excludes(option_of(command, other));
    };
    refuse(add_sequence_inputs(command, spec.sequences));
    refuse(add_sequence_columns(command, spec.sequences));
    refuse(add_sequence_model_options(command, spec.model.sequence, "Options"));
}

void add_training_options(CLI::App& command, TrainSpec& spec) {
    tasks::FinetuneSpec& model = spec.model;
    add_value(
        command, "--config", "PRESET|FILE", model.bins.config,
        "Size of the bin or profile model: tiny, small, base or large, or a JSON file of network sizes");
    add_value(command, "--epochs", "N", model.epochs, "Maximum number of epochs", CLI::PositiveNumber)
        ->default_str(
            "10, at least 300 steps; coverage: 30, at least 1000; profiles: 10, at least 2000; sequences: 6 "
            "to 15, for 250,000 rows in total");
    add_value(command, "--steps", "N", model.learning_rate.total_steps,
              "Training steps, instead of --epochs; no early stopping", CLI::NonNegativeNumber)
        ->default_str("from --epochs")
        ->excludes(option_of(command, "--epochs"));
    add_seed_option(command, model.seed);
    add_device_option(command, model.device);
    add_threads_option(command, model.threads);
}

void add_folds_option(CLI::App& command, TrainSpec& spec) {
    CLI::Option* folds =
        add_value(
            command, "--folds", "N", spec.folds,
            "Cross-validation: N models, each scoring bins that it did not see; their mean is the model",
            CLI::Range(2, 50))
            ->default_str("none")
            ->group("Hold-out")
            ->needs(option_of(command, "--peaks"));
    for (const char* given : {"--validation", "--test", "--signal"})
        folds->excludes(option_of(command, given));
}

void add_folder_options(CLI::App& command, TrainSpec& spec) {
    add_value(command, "-o,--output", "DIR", spec.output,
              "Output folder: model/, report.html, README.md, evaluation.json, and intermediate files");
    add_value(command, "--known-motifs", "FILE", spec.known_motifs,
              "Known motifs, in MEME's minimal format or JASPAR's, to name the learned motifs in the report")
        ->excludes(option_of(command, "--tss"));
    command.add_flag(force_option, spec.force);
    add_max_hours_option(command, spec.model.run.max_hours);
    command.add_flag("--dry-run", spec.dry_run,
                     "Only print the expected rows, steps, time and memory, estimated from a few steps");
}

/// `model`, with the options that every kind of model takes.
tasks::FinetuneSpec told(CLI::App& command, tasks::FinetuneSpec model, const tasks::FinetuneSpec& given) {
    if (is_given(command, "--epochs")) model.epochs = given.epochs;
    model.learning_rate.total_steps = given.learning_rate.total_steps;
    model.run = given.run;
    model.seed = given.seed;
    model.device = given.device;
    model.threads = given.threads;
    return model;
}

/// Chooses the sequence model for the options.
void choose_sequences(CLI::App& command, TrainSpec& spec) {
    const tasks::FinetuneSpec given = spec.model;
    spec.model = told(command, tasks::sequence_model_spec(), given);
    if (is_given(command, "--config")) spec.model.sequence.config = given.bins.config;
    spec.model.sequence.strand = given.sequence.strand;
    spec.model.sequence.members = given.sequence.members;
}

/// The command with the options that were given, as for a shell.
std::string command_line(CLI::App& command) {
    constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%^-";
    std::string line = "bigbird-dna " + command.get_name();
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->count() > 0; })) {
        line += " " + option->get_name();
        for (std::string word :
             option->get_expected_max() > 0 ? option->results() : std::vector<std::string>()) {
            if (word.empty() || word.find_first_not_of(plain) != word.npos) {
                for (std::size_t at = word.find('\''); at != word.npos; at = word.find('\'', at + 4))
                    word.replace(at, 1, "'\\''");
                word = "'" + word + "'";
            }
            line += " " + word;
        }
    }
    return line;
}

/// Checks which inputs are given, and takes the defaults that follow from them.
void choose_train_defaults(CLI::App& command, TrainSpec& spec) {
    const bool sequences = !spec.sequences.table.empty() || !spec.sequences.fasta.empty();
    const bool promoters = !spec.promoters.tss.empty();
    spec.command = command_line(command);
    if (!sequences && !promoters && spec.examples.peaks.empty() && spec.tracks.signals.empty())
        throw CLI::RequiredError("--peaks, --signal, --tss, --table or --fasta");
    for (const char* of_genome : {"--reference", "--include", "--exclude", "--skip-invalid"})
        if (sequences && is_given(command, of_genome))
            throw CLI::ExcludesError(of_genome, "--table and --fasta");
    if (promoters && is_given(command, "--config")) throw CLI::ExcludesError("--config", "--tss");
    if (spec.output.empty() && !spec.dry_run) throw CLI::RequiredError("--output");
    if (sequences) choose_sequences(command, spec);
    if (promoters) spec.model = told(command, tasks::promoter_model_spec(), spec.model);
    if (spec.makes_profiles()) {
        const std::string config = spec.model.bins.config;
        spec.model = told(command, tasks::profile_model_spec(), spec.model);
        spec.model.bins.config = config;
    } else if (!spec.tracks.signals.empty()) {
        const tasks::FinetuneSpec coverage = tasks::coverage_model_spec();
        spec.model.fewest_steps = coverage.fewest_steps;
        if (!is_given(command, "--epochs")) spec.model.epochs = coverage.epochs;
        spec.model.learning_rate.peak = coverage.learning_rate.peak;
    }
    if (is_given(command, "--epochs")) spec.model.fewest_steps = 1;
}

}  // namespace

void setup_train(Program& program, Runner<TrainSpec> run) {
    const auto [command, spec] = program.add<TrainSpec>(
        "train", "Peaks, coverage or sequences",
        "Train and evaluate a model of peaks, coverage, TSSs or sequences.\nMakes examples, trains a model "
        "and a linear baseline, evaluates both on held-out rows, and writes a\nreport and a model card. The "
        "same command, given again, resumes a stopped run.\nFor few peaks, --folds N trains one model on "
        "each of N splits of the genome. --members N trains N\nnetworks on one split. --validation and "
        "--test also take FILE:FOLD, a split that a file defines.",
        "--peaks --signal --tss --table --fasta --reference --include --validation --test --folds --split-by "
        "--strand --epochs --max-hours --output --dry-run",
        {{"A model of the demo's peaks, with two automatically chosen held-out stretches, trained for two "
          "minutes",
          "--peaks ../test_data/chromatin/peaks.tsv --reference ../test_data/genome/22.fa.gz --output "
          "my-peaks"},
         {"A table of sequences and classes, a tenth held out for test",
          "--table ../test_data/sequences/promoters.csv.gz --strand given --output my-table"}},
        std::move(run), choose_train_defaults);
    add_peak_options(command, spec);
    add_sequence_options(command, spec);
    add_hold_out_options(command, spec.validation, spec.test,
                         "default: about a tenth of the bins. With --table: a table of these rows; default: "
                         "rows chosen by --split-by [similarity:0.8,0.1,0.1]");
    add_folds_option(command, spec);
    add_training_options(command, spec);
    add_folder_options(command, spec);
}

}  // namespace bigbird::cli
