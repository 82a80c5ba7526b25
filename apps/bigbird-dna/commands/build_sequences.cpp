// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/sequence_options.hpp"

#include "bigbird/examples/build/sequences.hpp"

namespace bigbird::cli {

using BuildSequencesOptions = FolderOptions<examples::SequencesOptions>;

void setup_build_sequences(Program& program) {
    const auto [command, options] = program.add<BuildSequencesOptions>(
        "build-sequences", "Peaks, coverage or sequences",
        "Make examples from sequences with classes, labels or numbers",
        "--table --validation --test --fasta --label-column --target --split-by --output",
        {{"Sequences and classes of a table; a fifth held out for test, similar sequences on one side",
          "--table ../test_data/sequences/promoters.csv.gz --split-by similarity:0.7,0.1,0.2 --output "
          "my-sequences"},
         {"The tables of a benchmark, one per split",
          "--table train.csv --validation dev.csv --test test.csv --output my-sequences"}},
        folder_of(examples::build_sequences));
    examples::SequencesOptions& sequences = options.spec;
    CLI::Option* const table = add_sequence_inputs(command, sequences).front();
    add_value(command, "--validation", "TABLE", sequences.validation, "Table of the validation rows")
        ->needs(table);
    add_value(command, "--test", "TABLE", sequences.test, "Table of the test rows")->needs(table);
    add_sequence_columns(command, sequences);
    add_value(command, "--id-column", "NAME", sequences.id_column,
              "Column of ids; rows without one are numbered from 1")
        ->group("Columns");
    add_value(command, "--group-column", "NAME", sequences.group_column,
              "Column of groups; a group stays in one split, and confidence intervals resample groups")
        ->group("Columns");
    add_seed_option(command, sequences.seed);
    add_output_options(command, options.output, "Example folder to write");
}

}  // namespace bigbird::cli
