// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/option_groups.hpp"
#include "options/training_options.hpp"
#include "support/help_notes.hpp"

#include "bigbird/task_models/specs/train_spec.hpp"

#include <memory>
#include <string>
#include <utility>

namespace bigbird::cli {

using task_models::TrainSpec;

namespace {

void add_input_options(CLI::App& command, TrainSpec& spec) {
    command
        .add_option("--peaks", spec.examples.peaks,
                    "A sheet with the columns name, group and path, or BED or narrowPeak files")
        ->required()
        ->type_name("SHEET|BED");
    add_reference_option(command, spec.examples.references);
    add_bin_region_options(command, spec.examples.include, spec.examples.exclude);
    command.add_flag("--skip-invalid", spec.examples.skip_invalid,
                     "Leave out peaks that do not fit the reference, however many (above 20 % is an error)");
    add_hold_out_options(
        command, spec.examples.validation, spec.examples.test,
        "by rule where not given: contigs of about a tenth of the bins, never the largest, or "
        "a stretch at its end");
}

void add_training_options(CLI::App& command, TrainSpec& spec) {
    task_models::FinetuneSpec& model = spec.model;
    command
        .add_option("--config", model.bins.config,
                    "Size of the network, tiny, small, base, large, or a JSON file that describes it")
        ->type_name("PRESET|FILE");
    command.add_option("--epochs", model.epochs, "Passes over the training bins, at most")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command
        .add_option("--steps", model.learning_rate.total_steps,
                    "Number of training steps, instead of --epochs; no early stopping")
        ->check(CLI::NonNegativeNumber)
        ->default_str("as --epochs asks")
        ->type_name("N");
    command
        .add_option("--min-positives", spec.min_positives,
                    "Labels with fewer positive test bins do not count in means and medians")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    add_seed_option(command, model.seed);
    add_device_option(command, model.device);
    add_threads_option(command, model.threads);
}

void add_folder_options(CLI::App& command, TrainSpec& spec) {
    command
        .add_option(
            "-o,--output", spec.output,
            "Folder to make: model/, report.html, README.md, evaluation.json, and what they come from")
        ->type_name("DIR");
    command.add_flag("-f,--force", spec.force, "Discard what an earlier train left in --output");
    add_max_hours_option(command, spec.model.run.max_hours);
    command.add_flag("--dry-run", spec.dry_run,
                     "Only say on standard output what it takes: bins, steps, time and memory, measured on "
                     "some steps");
}

constexpr Examples examples{
    {{"A model of the demo's peaks, two stretches held out by rule, trained for two minutes",
      "bigbird-dna train --peaks ../test_data/chromatin/peaks.tsv --reference ../test_data/genome/22.fa.gz "
      "--output my-peaks"},
     {"What it would take",
      "bigbird-dna train --peaks ../test_data/chromatin/A549.CTCF.chr22.narrowPeak.gz --reference "
      "../test_data/genome/22.fa.gz --dry-run"}}};

}  // namespace

void setup_train(Program& program, Runner<TrainSpec> run) {
    auto spec = std::make_shared<TrainSpec>();
    CLI::App& command = program.add<TrainSpec>(
        "train", "Tasks",
        "From peaks to a judged model in one go: labels the bins, trains a bin model and a linear floor,\n"
        "evaluates both on held-out sequence, and writes a page and a model card. The same command goes on\n"
        "where it was stopped.",
        spec, std::move(run));
    add_input_options(command, *spec);
    add_training_options(command, *spec);
    add_folder_options(command, *spec);
    add_examples(command, examples);
    command.parse_complete_callback([spec] {
        if (spec->output.empty() && !spec->dry_run) throw CLI::RequiredError("--output");
    });
}

}  // namespace bigbird::cli
