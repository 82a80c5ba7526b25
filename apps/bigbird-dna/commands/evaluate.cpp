// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/base_evaluation.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/tasks/files/task_files.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::cli {

struct ReportOutputs {
    std::vector<std::filesystem::path> outputs;
    Overwrite overwrite = Overwrite::refuse;
};

struct EvaluateOptions : ReportOutputs {
    evaluation::EvaluationRequest request;  ///< all but scan
    evaluation::ScanOptions scan;           ///< requested if it has scores
    std::filesystem::path model_card;       ///< model folder whose card gets the figures; empty: none
};

struct EvaluateTokensOptions : ReportOutputs {
    evaluation::BaseEvaluationRequest request;
};

namespace {

void add_score_options(CLI::App& command, evaluation::EvaluationRequest& request) {
    const auto set_scores = [&request](const std::vector<std::string>& texts) {
        request.scores = evaluation::parse_score_files(texts);
    };
    command
        .add_option_function<std::vector<std::string>>(
            "--scores", set_scores,
            "Scores of predict-* (.tsv, .csv, .h5), - for standard input; several NAME=FILE are compared "
            "with the first")
        ->required()
        ->type_name("[NAME=]FILE");
    add_value(command, "--examples", "DIR", request.examples, "Example folder with the labels")->required();
    add_choice_option(command, "--split", request.split, examples::split_words,
                      "Split of --examples to evaluate");
    add_choice_option(
        command, "--rows", request.rows, evaluation::wanted_rows_choices,
        "all: require a score for every row of the split; scored: evaluate only the scored rows");
}

void add_report_options(CLI::App& command, ReportOutputs& options, const std::string& formats) {
    add_value(command, "-o,--output", "PATH", options.outputs,
              "Report: " + formats +
                  ", else JSON, by the name's ending; - for standard output. Several "
                  "outputs can be given")
        ->required()
        ->group("Output");
    add_force_option(command, options.overwrite);
}

void add_resamples_option(CLI::App& command, evaluation::EvaluationOptions& options) {
    add_value(command, "--resamples", "N", options.resamples, "Bootstrap samples for 95 % intervals; 0: none",
              CLI::NonNegativeNumber)
        ->group("Intervals");
}

/// Call it before evaluating: throws if the figures cannot be added to the card.
void check_model_card(const EvaluateOptions& options) {
    if (options.model_card.empty()) return;
    if (options.request.split == examples::Split::train)
        throw ConfigError("--model-card: a card has no place for the rows of train");
    require_readable(options.model_card / model::card_file);
}

/// Throws if another model wrote the scores than the card's.
void check_same_model(const EvaluateOptions& options, const Json& provenance) {
    const std::string written_by = provenance.value("model_sha256", "");
    const std::filesystem::path weights = options.model_card / "model.safetensors";
    std::error_code error;
    if (options.model_card.empty() || written_by.empty() || !std::filesystem::exists(weights, error) ||
        written_by == sha256_of_file(weights))
        return;
    throw ConfigError("--model-card: " + options.request.scores.front().path.string() +
                      " holds the scores of another model than " + options.model_card.string() +
                      " (##model_sha256)");
}

void add_promoter_options(CLI::App& command, EvaluateOptions& options) {
    const auto set_threshold = [&options](const std::string& text) {
        options.request.threshold = evaluation::parse_threshold_rule(text);
    };
    add_parsed(command, "--threshold", "SCORE|auto|f1|mcc", set_threshold,
               "Score from which a row is called a promoter: a number, or f1 or mcc to optimize it on scored "
               "validation rows; auto: f1 if validation rows are scored, else 0.5",
               "auto");
    const HelpGroup in_group(command, "Scan");
    CLI::Option* tss = add_value(command, "--tss", "BED", options.scan.tss,
                                 "Known TSSs; calls of --scan within 500 bases of one count as correct");
    CLI::Option* scan =
        add_value(command, "--scan", "FILE", options.scan.scores,
                  "Scores of predict-promoter --tile, for false calls per megabase of real sequence")
            ->needs(tss);
    tss->needs(scan);
}

void add_chromatin_options(CLI::App& command, EvaluateOptions& options) {
    add_value(command, "--min-positives", "N", options.request.options.min_positives,
              "Leave labels with fewer positive rows out of means and medians", CLI::PositiveNumber);
}

void add_sequences_options(CLI::App& command, EvaluateOptions& options) {
    const auto set_threshold = [&options](const double& threshold) {
        options.request.threshold = {evaluation::ThresholdRule::Kind::given, threshold};
    };
    command
        .add_option_function<double>(
            "--threshold", set_threshold,
            "Score from which a row is called the second of two classes, or positive for a label")
        ->default_str("the most probable class; 0.5 for labels")
        ->type_name("SCORE");
}

/// The differences between the tasks' commands.
struct EvaluateCommand {
    examples::Task task;
    const char *name, *group, *description;
    void (*add_options)(CLI::App&, EvaluateOptions&);
    const char* common;  ///< options that --help shows
    std::vector<Example> examples;
};
const EvaluateCommand evaluate_commands[] = {
    {examples::Task::promoter,
     "evaluate-promoter",
     task_group,
     "Evaluate promoter scores: AUROC, AUPRC, F1, MCC",
     add_promoter_options,
     "--scores --examples --threshold --scan --tss --output --force",
     {{"Figures of held-out windows, as a table",
       "--scores promoter/held_out.tsv.gz --examples promoter/examples --output promoter.tsv"},
      {"The same as a page for browsers, and as JSON",
       "--scores promoter/held_out.tsv.gz --examples promoter/examples --output promoter.html --output "
       "promoter.json"}}},
    {examples::Task::sequences,
     "evaluate-sequences",
     task_group,
     "Evaluate scores of sequences: MCC, AUROC, Pearson's r and more",
     add_sequences_options,
     "--scores --examples --split --threshold --model-card --output --force",
     {{"Figures of held-out sequences, as JSON",
       "--scores test.tsv.gz --examples my-sequences --output sequences.json"},
      {"Two models compared, as a page for browsers",
       "--scores kmers=kmers.tsv --scores network=test.tsv.gz --examples my-sequences --output "
       "sequences.html"}}},
    {examples::Task::chromatin,
     "evaluate-chromatin",
     task_group,
     "Evaluate chromatin scores: AUROC and AUPRC per label and group",
     add_chromatin_options,
     "--scores --examples --min-positives --model-card --output --force",
     {{"AUROC and AUPRC of each label, as a table",
       "--scores chromatin/scores.tsv.gz --examples chromatin/examples --output chromatin.tsv"},
      {"Two models compared, as a page for browsers",
       "--scores ridge=chromatin/ridge.tsv.gz --scores bins=chromatin/scores.tsv.gz --examples "
       "chromatin/examples --min-positives 10 --output comparison.html"}}}};

/// Call it before evaluating.
void prepare_reports(const ReportOutputs& options) {
    for (const std::filesystem::path& output : options.outputs)
        if (output != "-") prepare_output(output, options.overwrite);
}

/// Logs the report and writes it to all outputs, or to none.
template <typename Report>
void write_reports(const Report& report, const ReportOutputs& options) {
    for (const std::string& line : to_lines(report))
        log_info("{}", line);
    std::vector<std::unique_ptr<genome::TextOutput>> reports;
    for (const std::filesystem::path& output : options.outputs)
        reports.push_back(write_report(report, output, options.overwrite));
    genome::commit_together(reports);
}

int run_evaluate(const EvaluateOptions& options) {
    prepare_reports(options);
    check_model_card(options);
    evaluation::EvaluationRequest request = options.request;
    if (!options.scan.scores.empty()) request.scan = options.scan;
    const evaluation::EvaluationReport report = evaluation::evaluate(request);
    check_same_model(options, report.about["scores"][request.scores.front().name]);
    write_reports(report, options);
    if (!options.model_card.empty())
        model::add_to_card(options.model_card, tasks::card_figures(report, report.files.front()));
    return 0;
}

int run_evaluate_tokens(const EvaluateTokensOptions& options) {
    prepare_reports(options);
    write_reports(evaluation::evaluate_bases(options.request), options);
    return 0;
}

}  // namespace

void setup_evaluate(Program& program, examples::Task task) {
    const EvaluateCommand& by_task = *std::ranges::find(evaluate_commands, task, &EvaluateCommand::task);
    const auto [command, options] = program.add<EvaluateOptions>(
        by_task.name, by_task.group, by_task.description, by_task.common, by_task.examples, run_evaluate);
    evaluation::EvaluationRequest& request = options.request;
    request.task = task;
    add_score_options(command, request);
    add_seed_option(command, request.options.seed);
    add_own_threads_option(command, request.options.threads);
    add_report_options(command, options, ".tsv, .csv, .html (a web page)");
    add_resamples_option(command, request.options);
    add_value(command, "--model-card", "DIR", options.model_card,
              "Write the results of the first --scores into this model folder's README.md")
        ->group("Output");
    by_task.add_options(command, options);
}

void setup_evaluate_tokens(Program& program) {
    const auto [command, options] = program.add<EvaluateTokensOptions>(
        "evaluate-tokens", task_group, "Evaluate scores of bases: AUROC, AUPRC and F1 of each label",
        "--scores --labels --reference --output --force",
        {{"Figures of held-out bases, as a table",
          "--scores bases.tsv.gz --labels ../test_data/tokens/labels.bed.gz --reference "
          "../test_data/genome/22.fa.gz --output bases.tsv"},
         {"The same as JSON on standard output",
          "--scores bases.tsv.gz --labels ../test_data/tokens/labels.bed.gz --reference "
          "../test_data/genome/22.fa.gz --output -"}},
        run_evaluate_tokens);
    evaluation::BaseEvaluationRequest& request = options.request;
    add_value(command, "--scores", "FILE", request.scores,
              "Scores of predict-tokens (.tsv, .csv, .h5), - for standard input")
        ->required();
    add_value(command, "--labels", "BED", request.labels,
              "BED with a label in column 4 for the bases of each row")
        ->required();
    add_reference_option(command, request.references);
    add_report_options(command, options, ".tsv, .csv");
    add_resamples_option(command, request.options);
    add_seed_option(command, request.options.seed);
    add_own_threads_option(command, request.options.threads);
}

}  // namespace bigbird::cli
