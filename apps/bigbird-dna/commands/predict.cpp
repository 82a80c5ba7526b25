// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/sequence_options.hpp"
#include "support/tasks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/networks/splicing/splice_files.hpp"
#include "bigbird/tasks/files/task_files.hpp"

#include <filesystem>
#include <string>
#include <utility>

namespace bigbird::cli {

namespace fs = std::filesystem;
using tasks::PredictSpec;

namespace {

void add_row_options(CLI::App& command, PredictSpec& spec) {
    CLI::Option* const reference = add_reference_option(command, spec.references, false);
    CLI::Option* const regions =
        add_regions_option(command, "--regions", spec.regions,
                           "BED to score, or '-' for standard input; windows are centered on a row's middle "
                           "or, for promoters, placed around its first base (on the minus strand, its last)")
            ->needs(reference);
    reference->needs(regions);
    CLI::Option* const sequences =
        add_value(command, "--sequences", "FASTA|TABLE", spec.sequences,
                  "Instead of --regions: sequences to score, FASTA, CSV or TSV, or '-' for standard input")
            ->excludes(regions);
    add_value(command, "--sequence-column", "NAME", spec.sequence_column,
              "Column of sequences; a column number, from 1, for tables without a header")
        ->needs(sequences);
    add_value(command, "--id-column", "NAME", spec.id_column,
              "Column of ids; rows without one are numbered from 1")
        ->needs(sequences);
    add_header_option(command, spec.header)->needs(sequences);
    CLI::Option* const examples = add_value(command, "--examples", "DIR", spec.examples,
                                            "Instead of --regions and --sequences: the rows of an example "
                                            "folder, including synthetic negatives")
                                      ->excludes(sequences)
                                      ->excludes(regions);
    add_choice_option(command, "--split", spec.split, tasks::split_choices, "Split of --examples to score")
        ->needs(examples);
}

void add_tile_options(CLI::App& command, PredictSpec& spec) {
    const HelpGroup in_group(command, "Tiles");
    add_choice_option(command, "--pool", spec.pool, tasks::pool_choices,
                      "How the scores of a row's bins or tiles are combined: their mean, or their maximum. "
                      "none: write a row per tile; auto: mean for bins, none for tiles");
    add_value(command, "--tile", "BP", spec.tile,
              "Cut regions into tiles of this many bases, such as the 200 of training; for promoters: score "
              "a window every BP bases, on the region's strand or, without one, on both",
              CLI::NonNegativeNumber)
        ->default_str("none: a row has one score");
}

void add_predict_options(CLI::App& command, PredictSpec& spec) {
    add_value(
        command, "-m,--model", "DIR", spec.models,
        "Model folder, run or file of a published model; given several times, the mean of the models' scores")
        ->required();
    add_component_option(command, spec);
    add_row_options(command, spec);
    add_choice_option(command, "--reverse-complement", spec.strands, tasks::strand_choices,
                      "average: the mean of both strands' scores; none: score only the given strand; only: "
                      "score only its reverse complement")
        ->default_str("chromatin: average; others: none");
    command.add_flag("--skip-invalid", spec.skip_invalid, marks_invalid);
    add_choice_option(command, "--anchor", spec.anchor, tasks::anchor_choices,
                      "Score a window around a row's center, or around its narrowPeak summit. Bin models "
                      "score all bins of the row, or only one bin's bases around the summit");
    add_labels_option(command, spec.labels);
    add_tile_options(command, spec);
    add_score_outputs(command, spec.outputs);
    add_shard_option(command, spec.outputs.shard, "rows or tiles");
    command.add_flag(
        "--dry-run", spec.dry_run,
        "Only print the expected windows, time, memory and output sizes, estimated from some of the rows");
    add_compute_options(command, spec);
    only_for(command, "chromatin, promoter, tokens, splicing",
             {"--reference", "--regions", "--skip-invalid"});
    only_for(command, "chromatin, promoter, sequences, splicing", {"--sequences", "--shard"});
    only_for(command, "chromatin, promoter, sequences",
             {"--sequence-column", "--id-column", "--header", "--examples", "--split", "--dry-run"});
    only_for(command, "chromatin, promoter, sequences, tokens", {"--reverse-complement"});
    only_for(command, "chromatin, promoter", {"--pool", "--tile"});
    only_for(command, "chromatin, sequences, tokens, splicing", {"--labels"});
    only_for(command, "chromatin", {"--anchor"});
}

void add_predict_aliases(CLI::App& command) {
    add_alias(command, "promoter", "Score BED rows as promoters.\nWrites one row per input row, in order.",
              {{"Scores of the TSSs of a BED",
                "--model promoter/run --reference ../test_data/genome/22.fa.gz --regions "
                "promoter/examples/test.bed --output promoters.tsv.gz"},
               {"A scan of held-out sequence, every 1,000 bases on both strands",
                "--model promoter/run --reference ../test_data/genome/22.fa.gz --regions test.bed --tile "
                "1000 --output scan.tsv.gz"}});
    add_alias(command, "chromatin",
              "Predict the chromatin profile of BED rows.\nWrites one row per input row, in order.",
              {{"Scores of the rows of a BED, the mean of both strands",
                "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions "
                "chromatin/examples/test.bed --output scores.tsv.gz"},
               {"A bigWig for each CTCF label, and their scores in HDF5",
                "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions test.bed --tile "
                "200 --labels '*CTCF*' --output 'tracks/{label}.bw' --output scores.h5"}});
    add_alias(command, "sequences", "Score sequences.\nWrites one row per input row, in order.",
              {{"Classes of the sequences of a table",
                "--model my-run --sequences ../test_data/sequences/promoters.csv.gz --output scores.tsv"},
               {"Scores of held-out examples, for evaluate-sequences",
                "--model my-run --examples my-sequences --split test --output test.tsv.gz"}});
    add_alias(command, "tokens",
              "Predict the probability of each label for every base of BED rows.\nWrites one row per run of "
              "bases with equal scores, in order.",
              {{"Probabilities of each label, one row per run of bases with equal scores",
                "--model tokens-run --reference ../test_data/genome/22.fa.gz --regions test.bed --output "
                "bases.tsv.gz"},
               {"A bigWig for each label, the mean of both strands",
                "--model tokens-run --reference ../test_data/genome/22.fa.gz --regions test.bed "
                "--reverse-complement average --output 'tracks/{label}.bw'"}});
}

/// "chromatin" without a model: the run then says what is wrong with it.
std::string task_of_model(const fs::path& path) {
    const fs::path model = is_there(path / "config.json") ? path : path / "model";
    if (!is_there(model / "config.json")) return "chromatin";
    const Json task = tasks::task_description(model);
    if (task.is_null())
        throw ConfigError(path.string() +
                          " was trained for no task: fine-tune it, or use embed or predict-variants");
    return task_in(task, model / "config.json");
}

void finish_predict(CLI::App& command, PredictSpec& spec) {
    if (networks::is_splice_model(spec.models.front())) {
        if (!help_notes(command).task.empty())
            throw ConfigError(spec.models.front().string() + " is a splice model: predict takes it");
        require_given(command, {"--output"});
        if (const auto wrong = option_of_other_task(command, "splicing")) throw ConfigError(*wrong);
        return;
    }
    const std::string task = settle_task(command, [&] { return task_of_model(spec.models.front()); });
    spec.task = parse_choice(examples::task_choices, "the task", task);
    if (traits_of(spec.task).labels_bases) require_given(command, {"--reference", "--regions", "--output"});
    if (traits_of(spec.task).has_bins && !is_given(command, "--reverse-complement"))
        spec.strands = tasks::Strands::average;
}

}  // namespace

void setup_predict(Program& program, Runner<PredictSpec> run) {
    const auto [command, options] = program.add<PredictSpec>(
        "predict", "Peaks, coverage or sequences",
        "Score BED rows, sequences or examples with a trained model.\nThe model determines the task; "
        "predict-TASK --help describes each task.",
        "--model --reference --regions --sequences --examples --split --labels --tile --output --shard "
        "--dry-run --device",
        {{"Chromatin scores of the rows of a BED",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions test.bed --output "
          "scores.tsv.gz"},
         {"Scores of held-out promoter examples",
          "--model promoter/run --examples promoter/examples --split test --output promoters.tsv.gz"}},
        std::move(run), finish_predict);
    add_predict_options(command, options);
    add_predict_aliases(command);
}

}  // namespace bigbird::cli
