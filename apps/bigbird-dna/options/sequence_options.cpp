// SPDX-License-Identifier: Apache-2.0
#include "options/sequence_options.hpp"

#include "options/option_groups.hpp"

#include "bigbird/rows/sequence_reader.hpp"

namespace bigbird::cli {

std::vector<CLI::Option*> add_sequence_inputs(CLI::App& command, examples::SequencesOptions& options) {
    CLI::Option* table = add_value(
        command, "--table", "TABLE", options.table,
        "CSV or TSV with a sequence and its labels on each line or, with --fasta, an id and its labels");
    CLI::Option* fasta = add_value(command, "--fasta", "FASTA", options.fasta,
                                   "FASTA of the sequences whose ids are in --table. Without --table: one "
                                   "file per class, named after the class (FASTA, or one sequence per line)");
    return {table, fasta};
}

CLI::Option* add_header_option(CLI::App& command, std::optional<bool>& header) {
    return add_choice_option(command, "--header", header, rows::header_choices,
                             "Whether a table's first line is a header; auto: yes if that line names a "
                             "column or has no DNA in the column of sequences");
}

std::vector<CLI::Option*> add_sequence_columns(CLI::App& command, examples::SequencesOptions& options) {
    CLI::Option* split_by = add_value(
        command, "--split-by", "column:NAME|fraction:SHARES|similarity:SHARES", options.split_by,
        "How to split one table. column: by the words of a column; fraction: at random; similarity: with "
        "similar sequences in the same split. SHARES: training,validation,test, such as 0.8,0.1,0.1");
    const HelpGroup in_group(command, "Columns");
    CLI::Option* sequence =
        add_value(command, "--sequence-column", "NAME", options.sequence_column,
                  "Column of sequences; a column number, from 1, for tables without a header");
    const auto set_labels = [&options](const std::string& text) {
        (text.find(',') == std::string::npos ? options.label_column : options.labels) = text;
    };
    CLI::Option* label =
        add_parsed(command, "--label-column", "NAME", set_labels,
                   "Column of classes or numbers, or several columns of 0 and 1 or of numbers (NAME,NAME)",
                   options.label_column);
    CLI::Option* target =
        add_choice_option(command, "--target", options.target, examples::target_option_choices,
                          "Kind of the labels: classes, columns of 0 and 1 (labels), or a number; auto: "
                          "labels if there are several columns, else classes");
    CLI::Option* header = add_header_option(command, options.header);
    return {sequence, label, target, split_by, header};
}

std::vector<CLI::Option*> add_sequence_model_options(CLI::App& command, tasks::SequenceSpec& model,
                                                     const char* group) {
    return {add_choice_option(command, "--strand", model.strand, tasks::record_strands,
                              "both: labels do not depend on the strand. given: strand and positions matter "
                              "(promoters, splice sites). auto: whichever k-mers predict better"),
            add_value(command, "--members", "N", model.members,
                      "Number of networks with different seeds, averaged in one model", CLI::Range(1, 64))
                ->group(group)};
}

}  // namespace bigbird::cli
