// SPDX-License-Identifier: Apache-2.0
#include "options/evaluation_options.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"

namespace bigbird::cli {

void add_evaluate_options(CLI::App& command, EvaluateOptions& options) {
    command.add_option("--scores", options.scores, "Score table of predict-*, - for standard input")
        ->required()
        ->type_name("FILE");
    command.add_option("--examples", options.examples, "Example folder that holds the labels")
        ->required()
        ->type_name("DIR");
    command.add_option("--split", options.split, "Which of its rows: train, validation or test")
        ->check(CLI::IsMember({"train", "validation", "test"}))
        ->type_name("SPLIT");
    const char* intervals = "Intervals";
    command
        .add_option("--resamples", options.evaluation.resamples,
                    "Bootstrap samples for 95 % intervals; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(intervals);
    command
        .add_option("--block-size", options.evaluation.block_size,
                    "Bases of genome that are resampled as one, since neighbouring rows are not independent")
        ->check(CLI::PositiveNumber)
        ->type_name("BP")
        ->group(intervals);
    add_seed_option(command, options.evaluation.seed);
    add_threads_option(command, options.threads);
    add_output_options(command, options.output,
                       "Report: TSV where the name ends in .tsv, else JSON; - for standard output");
}

void evaluate_to_report(const EvaluateOptions& options, tasks::Task task) {
    if (options.output.output != "-") {
        prepare_output(options.output.output, options.output.overwrite());
    }
    tasks::EvaluationOptions evaluation = options.evaluation;
    evaluation.threads = resolve_threads(options.threads);
    const tasks::EvaluationReport report = tasks::evaluate_scores(
        options.scores, options.examples, task, tasks::parse_split(options.split), evaluation);
    for (const std::string& line : tasks::to_lines(report)) {
        log_info("{}", line);
    }
    tasks::write_report(report, options.output.output, options.output.overwrite());
}

}  // namespace bigbird::cli
