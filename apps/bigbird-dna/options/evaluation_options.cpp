// SPDX-License-Identifier: Apache-2.0
#include "options/evaluation_options.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"

namespace bigbird::cli {

void add_evaluate_options(CLI::App& command, EvaluateOptions& options) {
    command
        .add_option("--scores", options.scores,
                    "Score table of predict-*, - for standard input; several, as NAME=FILE, are compared "
                    "with the first")
        ->required()
        ->type_name("[NAME=]FILE");
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
    command
        .add_option(
            "--output", options.outputs,
            "Report: TSV where the name ends in .tsv, a page for browsers where it ends in .html, else JSON; "
            "- for standard output. Several are written at once")
        ->required()
        ->type_name("PATH")
        ->group("Output");
    command.add_flag("--force", options.force, "Replace an output that exists")->group("Output");
}

evaluation::EvaluationRequest evaluation_request(const EvaluateOptions& options, examples::Task task) {
    evaluation::EvaluationRequest request;
    request.scores = evaluation::parse_score_files(options.scores);
    request.examples = options.examples;
    request.task = task;
    request.split = examples::parse_split(options.split);
    request.options = options.evaluation;
    request.options.threads = resolve_threads(options.threads);
    return request;
}

void evaluate_to_reports(const evaluation::EvaluationRequest& request, const EvaluateOptions& options) {
    const Overwrite overwrite = options.force ? Overwrite::allow : Overwrite::refuse;
    for (const std::filesystem::path& output : options.outputs) {
        if (output != "-") {
            prepare_output(output, overwrite);
        }
    }
    const evaluation::EvaluationReport report = evaluation::evaluate_scores(request);
    for (const std::string& line : evaluation::to_lines(report)) {
        log_info("{}", line);
    }
    for (const std::filesystem::path& output : options.outputs) {
        evaluation::write_report(report, output, overwrite);
    }
}

}  // namespace bigbird::cli
