// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/option_groups.hpp"
#include "support/help_notes.hpp"

#include "bigbird/examples/build/sequences.hpp"

#include <memory>
#include <utility>

namespace bigbird::cli {

struct BuildSequencesOptions {
    examples::SequencesOptions sequences;
    OutputOptions output;
};

namespace {

constexpr Examples examples{
    {{"Sequences and classes of a table; a fifth held out for test, similar sequences on one side",
      "bigbird-dna build-sequences --table ../test_data/sequences/promoters.csv.gz --split-by "
      "similarity:0.7,0.1,0.2 --output my-sequences"},
     {"The tables of a benchmark, one per split",
      "bigbird-dna build-sequences --table train.csv --validation dev.csv --test test.csv --output "
      "my-sequences"}}};

void add_inputs(CLI::App& command, examples::SequencesOptions& options) {
    CLI::Option* table =
        command
            .add_option("--table", options.table, "CSV or TSV with a sequence and its labels in each line")
            ->type_name("TABLE");
    command.add_option("--validation", options.validation, "Table of the rows for validation")
        ->needs(table)
        ->type_name("TABLE");
    command.add_option("--test", options.test, "Table of the rows for test")
        ->needs(table)
        ->type_name("TABLE");
    CLI::Option* fasta =
        command
            .add_option(
                "--fasta", options.fasta,
                "Instead of --table: a file per class, which is named by the file; or one with --targets")
            ->excludes(table)
            ->type_name("FASTA");
    command.add_option("--targets", options.targets, "Labels of --fasta: a table with a column of ids")
        ->needs(fasta)
        ->type_name("TABLE");
}

void add_columns(CLI::App& command, examples::SequencesOptions& options) {
    const char* group = "Columns";
    command
        .add_option("--sequence-column", options.sequence_column,
                    "Column of sequences; its number, from 1, in tables without a header")
        ->type_name("NAME")
        ->group(group);
    CLI::Option* label =
        command.add_option("--label-column", options.label_column, "Column of classes or numbers")
            ->type_name("NAME")
            ->group(group);
    command.add_option("--labels", options.labels, "Several columns: labels of 0 and 1, or numbers")
        ->excludes(label)
        ->type_name("NAME,NAME,...")
        ->group(group);
    command
        .add_option("--id-column", options.id_column, "Column of ids; rows without one are numbered from 1")
        ->type_name("NAME")
        ->group(group);
    command
        .add_option("--group-column", options.group_column,
                    "Column of groups, which splits keep together and intervals draw as a whole")
        ->type_name("NAME")
        ->group(group);
    add_choice_option(command, "--target", options.target, examples::target_option_choices,
                      "What the columns hold; auto: classes, with --labels labels")
        ->group(group);
}

}  // namespace

void setup_build_sequences(Program& program, Runner<BuildSequencesOptions> run) {
    auto options = std::make_shared<BuildSequencesOptions>();
    examples::SequencesOptions& sequences = options->sequences;
    CLI::App& command =
        program.add("build-sequences", "Sequences",
                    "Make examples from sequences with classes, labels or numbers", options, std::move(run));
    add_inputs(command, sequences);
    add_columns(command, sequences);
    command
        .add_option("--split-by", sequences.split_by,
                    "Draw validation and test from one table; similarity: sequences that share many k-mers "
                    "get the same split")
        ->type_name("column:NAME|fraction:SHARES|similarity:SHARES");
    add_seed_option(command, sequences.seed);
    add_output_options(command, options->output, "Folder of examples to make");
    add_examples(command, examples);
    show_first(command, {"--table", "--validation", "--test", "--fasta", "--targets", "--label-column",
                         "--labels", "--target", "--split-by", "--output", "--force"});
}

int run(const BuildSequencesOptions& options) {
    PendingOutput folder(options.output.output, options.output.overwrite(), PendingOutput::Kind::folder);
    examples::build_sequences(options.sequences, folder.path());
    folder.commit();
    return 0;
}

}  // namespace bigbird::cli
