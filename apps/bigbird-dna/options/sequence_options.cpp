// SPDX-License-Identifier: Apache-2.0
#include "options/sequence_options.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

std::vector<CLI::Option*> add_sequence_inputs(CLI::App& command, examples::SequencesOptions& options) {
    CLI::Option* table =
        command.add_option("--table", options.table, "CSV or TSV with a sequence and its labels per line")
            ->type_name("TABLE");
    CLI::Option* fasta = command
                             .add_option("--fasta", options.fasta,
                                         "Instead of --table: one file per class, named after the class "
                                         "(FASTA, or one sequence per line); or one file with --targets")
                             ->excludes(table)
                             ->type_name("FASTA");
    CLI::Option* targets =
        command
            .add_option("--targets", options.targets, "Labels of --fasta, as a table with a column of ids")
            ->needs(fasta)
            ->type_name("TABLE");
    return {table, fasta, targets};
}

std::vector<CLI::Option*> add_sequence_columns(CLI::App& command, examples::SequencesOptions& options) {
    const char* group = "Columns";
    CLI::Option* sequence =
        command
            .add_option("--sequence-column", options.sequence_column,
                        "Column of sequences; a column number, from 1, for tables without a header")
            ->type_name("NAME")
            ->group(group);
    CLI::Option* label =
        command.add_option("--label-column", options.label_column, "Column of classes or numbers")
            ->type_name("NAME")
            ->group(group);
    CLI::Option* labels =
        command.add_option("--labels", options.labels, "Several label columns, of 0 and 1 or of numbers")
            ->excludes(label)
            ->type_name("NAME,NAME,...")
            ->group(group);
    CLI::Option* target =
        add_choice_option(command, "--target", options.target, examples::target_option_choices,
                          "Kind of the label columns; auto: labels with --labels, else classes")
            ->group(group);
    CLI::Option* split_by =
        command
            .add_option("--split-by", options.split_by,
                        "Draw validation and test from one table; similarity: sequences that share many "
                        "k-mers get the same split")
            ->type_name("column:NAME|fraction:SHARES|similarity:SHARES");
    return {sequence, label, labels, target, split_by};
}

std::vector<CLI::Option*> add_sequence_model_options(CLI::App& command, task_models::SequenceSpec& model,
                                                     const char* group) {
    return {add_choice_option(command, "--strand", model.strand, task_models::record_strands,
                              "both: labels do not depend on the strand. given: strand and positions matter "
                              "(promoters, splice sites). auto: whichever k-mers predict better"),
            command
                .add_option("--members", model.members,
                            "Number of networks with different seeds, averaged in one model")
                ->check(CLI::Range(1, 64))
                ->type_name("N")
                ->group(group)};
}

}  // namespace bigbird::cli
