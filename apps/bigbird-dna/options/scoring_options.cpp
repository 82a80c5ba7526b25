// SPDX-License-Identifier: Apache-2.0
#include "options/scoring_options.hpp"

namespace bigbird::cli {

void add_score_outputs(CLI::App& command, outputs::OutputSpec& outputs, const std::string& what) {
    std::string formats = ".tsv, .csv (each also .gz)";
    if (command.get_option_no_throw("--min-score") != nullptr) formats += ", .long.tsv";
    formats += ", .npy, .h5";
    if (outputs.variants) formats += ", .vcf, .vcf.gz, .bcf (the input's records with effects in INFO)";
    if (outputs.tracks) formats += ", .bedgraph, .bw ({label} in the name: a file per label)";
    add_value(command, "-o,--output", "FILE", outputs.paths,
              what + "; the file name's ending sets the format: " + formats +
                  "; - for a table on standard output. Several outputs can be given")
        ->required()
        ->group("Output");
    add_choice_option(command, "--precision", outputs.precision, outputs::precision_choices, "");
    add_force_option(command, outputs.overwrite);
}

void add_letter_outputs(CLI::App& command, outputs::OutputSpec& outputs, const std::string& what) {
    add_value(command, "-o,--output", "FILE", outputs.paths,
              what +
                  "; the file name's ending sets the format: .tsv, .csv (each also .gz), .npy, .h5 or "
                  ".npz (as TF-MoDISco reads them), .bedgraph, .bw ({label} in the name: a file per "
                  "label); - for a table on standard output. Several outputs can be given")
        ->required()
        ->group("Output");
    add_force_option(command, outputs.overwrite);
}

void add_min_score_option(CLI::App& command, std::optional<double>& min_score) {
    add_value(command, "--min-score", "SCORE", min_score,
              "Omit scores below this value from .long.tsv outputs")
        ->group("Output");
}

void add_labels_option(CLI::App& command, std::string& labels) {
    add_value(command, "--labels", "SELECTION", labels,
              "Labels to write: indices (such as 0-24), groups, names or patterns (*CTCF*), separated "
              "by commas; "
              "default: all");
}

void add_compute_options(CLI::App& command, task_models::ComputeSpec& compute) {
    add_device_option(command, compute.device);
    add_threads_option(command, compute.threads);
    add_batch_tokens_option(command, compute.batch_tokens);
    add_computing_options(command, compute.dtype, compute.attention);
}

}  // namespace bigbird::cli
