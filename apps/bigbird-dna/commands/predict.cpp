// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/sequence_options.hpp"

#include <algorithm>

namespace bigbird::cli {

namespace {

using tasks::PredictSpec;

void add_tile_option(CLI::App& command, PredictSpec& spec, const char* what) {
    add_value(command, "--tile", "BP", spec.tile, what, CLI::NonNegativeNumber)
        ->default_str("none: a row has one score")
        ->group("Tiles");
}

/// Options for models with many labels, whose regions have no TSS.
void add_chromatin_options(CLI::App& command, PredictSpec& spec) {
    add_tile_option(command, spec, "Cut regions into tiles of this many bases, such as the 200 of training");
    add_choice_option(command, "--anchor", spec.anchor, tasks::anchor_choices,
                      "Score a window around a row's center, or around its narrowPeak summit. Bin models "
                      "score all bins of the row, or only one bin's bases around the summit");
}

void add_promoter_options(CLI::App& command, PredictSpec& spec) {
    add_tile_option(command, spec,
                    "Scan regions for promoters: score a window every BP bases, on the region's strand or, "
                    "without one, on both");
}

struct PredictCommand {
    examples::Task task;
    const char *name, *group, *description;
    const char* common;  ///< options that --help shows
    const char* window;  ///< its position around a BED row
    std::vector<Example> examples;
};

const PredictCommand predict_commands[] = {
    {examples::Task::promoter,
     "predict-promoter",
     task_group,
     "Score BED rows as promoters.\nWrites one row per input row, in order.",
     "--model --reference --regions --sequences --output --force --shard --dry-run --device --tile",
     "windows are placed around a row's first base (its last on the minus strand)",
     {{"Scores of the TSSs of a BED",
       "--model promoter/run --reference ../test_data/genome/22.fa.gz --regions promoter/examples/test.bed "
       "--output promoters.tsv.gz"},
      {"A scan of held-out sequence, every 1,000 bases on both strands",
       "--model promoter/run --reference ../test_data/genome/22.fa.gz --regions test.bed --tile 1000 "
       "--output scan.tsv.gz"}}},
    {examples::Task::sequences,
     "predict-sequences",
     task_group,
     "Score sequences.\nWrites one row per input row, in order.",
     "--model --sequences --examples --split --output --force --shard --device",
     "",
     {{"Classes of the sequences of a table",
       "--model my-run --sequences ../test_data/sequences/promoters.csv.gz --output scores.tsv"},
      {"Scores of held-out examples, for evaluate-sequences",
       "--model my-run --examples my-sequences --split test --output test.tsv.gz"}}},
    {examples::Task::chromatin,
     "predict-chromatin",
     task_group,
     "Predict the chromatin profile of BED rows.\nWrites one row per input row, in order.",
     "--model --reference --regions --sequences --output --force --shard --dry-run --device --tile --labels",
     "the window is centered on a row's middle",
     {{"Scores of the rows of a BED, the mean of both strands",
       "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions chromatin/examples/test.bed "
       "--output scores.tsv.gz"},
      {"A bigWig for each CTCF label, and their scores in HDF5",
       "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions test.bed --tile 200 "
       "--labels '*CTCF*' --output 'tracks/{label}.bw' --output scores.h5"}}},
};

void add_row_options(CLI::App& command, PredictSpec& spec, const std::string& window) {
    const bool of_records = spec.task == examples::Task::sequences;
    CLI::Option* regions = nullptr;
    if (!of_records) {
        CLI::Option* const reference = add_reference_option(command, spec.references, false);
        regions = add_value(command, "--regions", "BED", spec.regions,
                            "BED to score, or '-' for standard input; " + window)
                      ->needs(reference);
        reference->needs(regions);
    }
    CLI::Option* const sequences =
        add_value(command, "--sequences", "FASTA|TABLE", spec.sequences,
                  of_records ? "Sequences to score: FASTA, CSV or TSV, or '-' for standard input"
                             : "Instead of --regions: sequences to score, FASTA, CSV or TSV, or '-'");
    add_value(command, "--sequence-column", "NAME", spec.sequence_column,
              "Column of sequences; a column number, from 1, for tables without a header")
        ->needs(sequences);
    add_value(command, "--id-column", "NAME", spec.id_column,
              "Column of ids; rows without one are numbered from 1")
        ->needs(sequences);
    add_header_option(command, spec.header)->needs(sequences);
    CLI::Option* examples =
        add_value(
            command, "--examples", "DIR", spec.examples,
            of_records
                ? "Instead of --sequences: rows of an example folder"
                : "Instead of --regions: the windows of an example folder, including synthetic negatives")
            ->excludes(sequences);
    if (regions != nullptr) {
        examples->excludes(regions);
        sequences->excludes(regions);
    }
    add_choice_option(command, "--split", spec.split, tasks::split_choices, "Split of --examples to score")
        ->needs(examples);
}

void add_predict_options(CLI::App& command, PredictSpec& spec, const std::string& window) {
    add_value(command, "-m,--model", "DIR", spec.models,
              "Model folder or run of fine-tuning; given several times, the mean of the models' scores")
        ->required();
    add_row_options(command, spec, window);
    add_choice_option(command, "--reverse-complement", spec.strands, tasks::strand_choices,
                      "Average the scores of both strands, or score only the given one (none) or its reverse "
                      "complement (only)");
    if (spec.task != examples::Task::sequences) {
        command.add_flag("--skip-invalid", spec.skip_invalid, marks_invalid);
        add_choice_option(
            command, "--pool", spec.pool, tasks::pool_choices,
            spec.task == examples::Task::promoter
                ? "none: write a row per window; mean, max: write one row per region, its mean or largest "
                  "score"
                : "Score of a row: the mean or the maximum of its bins or tiles; none: a row per tile; auto: "
                  "mean of bins, none for tiles")
            ->group("Tiles");
    }
    add_score_outputs(command, spec.outputs);
    add_shard_option(command, spec.outputs.shard, "rows or tiles");
    command.add_flag(
        "--dry-run", spec.dry_run,
        "Only print the expected windows, time, memory and output sizes, measured on some of the rows");
    add_compute_options(command, spec);
}

}  // namespace

void setup_predict(Program& program, examples::Task task, Runner<PredictSpec> run) {
    const PredictCommand& about = *std::ranges::find(predict_commands, task, &PredictCommand::task);
    const auto [command, spec] = program.add<PredictSpec>(about.name, about.group, about.description,
                                                          about.common, about.examples, std::move(run));
    spec.task = task;
    if (task == examples::Task::chromatin) spec.strands = tasks::Strands::average;
    add_predict_options(command, spec, about.window);
    if (task != examples::Task::promoter) add_labels_option(command, spec.labels);
    if (task == examples::Task::promoter) add_promoter_options(command, spec);
    if (task == examples::Task::chromatin) add_chromatin_options(command, spec);
}

}  // namespace bigbird::cli
