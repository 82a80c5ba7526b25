// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "support/tasks.hpp"

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

struct EvaluateOptions {
    evaluation::EvaluationRequest request;  ///< all but scan
    evaluation::ScanOptions scan;           ///< requested if it has scores
    std::vector<std::string> scores;        ///< "FILE" or "NAME=FILE"
    std::string threshold;
    std::filesystem::path labels;  ///< of tokens, as references
    std::vector<std::filesystem::path> references;
    std::vector<std::filesystem::path> outputs;
    Overwrite overwrite = Overwrite::refuse;
    std::filesystem::path model_card;  ///< model folder whose card gets the figures; empty: none
};

namespace {

void add_evaluate_inputs(CLI::App& command, EvaluateOptions& options) {
    evaluation::EvaluationRequest& request = options.request;
    add_value(command, "--scores", "[NAME=]FILE", options.scores,
              "Scores that predict wrote (.tsv, .csv, .h5); - is standard input. With several NAME=FILE, "
              "each is compared with the first (tokens: only one file)")
        ->required();
    add_value(command, "--examples", "DIR", request.examples, "Example folder with the labels");
    add_value(command, "--labels", "BED", options.labels,
              "BED whose column 4 names the label of a row's bases");
    add_reference_option(command, options.references, false);
    add_choice_option(command, "--split", request.split, examples::split_words,
                      "Split of --examples to evaluate");
    add_choice_option(
        command, "--rows", request.rows, evaluation::wanted_rows_choices,
        "all: require a score for every row of the split; scored: evaluate only the scored rows");
    add_value(command, "--min-positives", "N", request.options.min_positives,
              "Leave labels with fewer than N positive rows out of means and medians", CLI::PositiveNumber);
    add_value(command, "--threshold", "SCORE|auto|f1|mcc", options.threshold,
              "Lowest score that is called positive (a promoter, the second of two classes, or a label). For "
              "promoters, f1 and mcc choose the score that is best on scored validation rows; auto: f1 if "
              "there are such rows, else 0.5")
        ->default_str("promoter: auto; sequences: the most probable class, 0.5 for labels");
    add_seed_option(command, request.options.seed);
    add_own_threads_option(command, request.options.threads);
}

void add_outputs(CLI::App& command, EvaluateOptions& options) {
    {
        const HelpGroup in_group(command, "Output");
        add_value(command, "-o,--output", "PATH", options.outputs,
                  "Report: .tsv, .csv, .html (not for tokens), else JSON, by the name's ending; - for "
                  "standard output. Several outputs can be given")
            ->required();
        add_force_option(command, options.overwrite);
        add_value(command, "--model-card", "DIR", options.model_card,
                  "Write the results of the first --scores into this model folder's README.md");
    }
    add_value(command, "--resamples", "N", options.request.options.resamples,
              "Bootstrap samples for 95 % intervals (0 means no intervals)", CLI::NonNegativeNumber)
        ->group("Intervals");
    const HelpGroup in_group(command, "Scan");
    CLI::Option* tss = add_value(command, "--tss", "BED|GTF|GFF3", options.scan.tss,
                                 "Known TSSs; calls of --scan at most 500 bases from a TSS count as correct");
    CLI::Option* scan =
        add_value(command, "--scan", "FILE", options.scan.scores,
                  "Output of predict-promoter --tile, to count false calls per scanned megabase")
            ->needs(tss);
    tss->needs(scan);
}

void add_evaluate_options(CLI::App& command, EvaluateOptions& options) {
    add_evaluate_inputs(command, options);
    add_outputs(command, options);
    only_for(command, "chromatin, promoter, sequences", {"--examples", "--split", "--rows", "--model-card"});
    only_for(command, "chromatin", {"--min-positives"});
    only_for(command, "promoter, sequences", {"--threshold"});
    only_for(command, "promoter", {"--tss", "--scan"});
    only_for(command, "tokens", {"--labels", "--reference"});
}

void add_evaluate_aliases(CLI::App& command) {
    add_alias(command, "promoter", "Evaluate promoter scores: AUROC, AUPRC, F1, MCC",
              {{"Figures of held-out windows, as a table",
                "--scores promoter/held_out.tsv.gz --examples promoter/examples --output promoter.tsv"},
               {"The same as a page for browsers, and as JSON",
                "--scores promoter/held_out.tsv.gz --examples promoter/examples --output promoter.html "
                "--output promoter.json"}});
    add_alias(command, "chromatin", "Evaluate chromatin scores: AUROC and AUPRC per label and group",
              {{"AUROC and AUPRC of each label, as a table",
                "--scores chromatin/scores.tsv.gz --examples chromatin/examples --output chromatin.tsv"},
               {"Two models compared, as a page for browsers",
                "--scores ridge=chromatin/ridge.tsv.gz --scores bins=chromatin/scores.tsv.gz --examples "
                "chromatin/examples --min-positives 10 --output comparison.html"}});
    add_alias(command, "sequences", "Evaluate scores of sequences: MCC, AUROC, Pearson's r and more",
              {{"Figures of held-out sequences, as JSON",
                "--scores test.tsv.gz --examples my-sequences --output sequences.json"},
               {"Two models compared, as a page for browsers",
                "--scores kmers=kmers.tsv --scores network=test.tsv.gz --examples my-sequences --output "
                "sequences.html"}});
    add_alias(command, "tokens", "Evaluate scores of bases: AUROC, AUPRC and F1",
              {{"Figures of held-out bases, as a table",
                "--scores bases.tsv.gz --labels ../test_data/tokens/labels.bed.gz --reference "
                "../test_data/genome/22.fa.gz --output bases.tsv"},
               {"The same as JSON on standard output",
                "--scores bases.tsv.gz --labels ../test_data/tokens/labels.bed.gz --reference "
                "../test_data/genome/22.fa.gz --output -"}});
}

/// Reads what depends on the task.
void finish_evaluate(CLI::App& command, EvaluateOptions& options) {
    evaluation::EvaluationRequest& request = options.request;
    const std::string task = settle_task(command, [&] {
        return task_of_labels(options.labels, "--labels", request.examples, manifest_in(request.examples));
    });
    request.task = parse_choice(examples::task_choices, "the task", task);
    if (traits_of(request.task).labels_bases) {
        require_given(command, {"--labels", "--reference"});
        if (options.scores.size() > 1) throw ConfigError("--scores may be given once for tokens");
        return;
    }
    require_given(command, {"--examples"});
    request.scores = evaluation::parse_score_files(options.scores);
    if (!options.threshold.empty()) request.threshold = evaluation::parse_threshold_rule(options.threshold);
    const bool is_score = request.threshold.kind == evaluation::ThresholdRule::Kind::given;
    if (!options.threshold.empty() && !is_score && traits_of(request.task).has_records)
        throw CLI::ValidationError("--threshold",
                                   "'" + options.threshold + "' is for promoters: give a score");
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

/// Call it before evaluating.
void prepare_reports(const EvaluateOptions& options) {
    for (const std::filesystem::path& output : options.outputs)
        if (output != "-") prepare_output(output, options.overwrite);
}

/// Logs the report and writes it to all outputs, or to none.
template <typename Report>
void write_reports(const Report& report, const EvaluateOptions& options) {
    for (const std::string& line : to_lines(report))
        log_info("{}", line);
    std::vector<std::unique_ptr<genome::TextOutput>> reports;
    for (const std::filesystem::path& output : options.outputs)
        reports.push_back(write_report(report, output, options.overwrite));
    genome::commit_together(reports);
}

int evaluate_rows(const EvaluateOptions& options) {
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

int run_evaluate(const EvaluateOptions& options) {
    prepare_reports(options);
    if (!traits_of(options.request.task).labels_bases) return evaluate_rows(options);
    write_reports(evaluation::evaluate_bases(
                      {options.scores.front(), options.labels, options.references, options.request.options}),
                  options);
    return 0;
}

}  // namespace

void setup_evaluate(Program& program) {
    const auto [command, options] = program.add<EvaluateOptions>(
        "evaluate", "Peaks, coverage or sequences",
        "Compare scores with labels: AUROC, AUPRC, MCC and more.\nThe examples determine the task; "
        "evaluate-TASK --help describes each task.",
        "--scores --examples --labels --reference --split --min-positives --threshold --scan --tss "
        "--model-card --output --force",
        {{"AUROC and AUPRC of each label, as a table",
          "--scores chromatin/scores.tsv.gz --examples chromatin/examples --output chromatin.tsv"},
         {"Figures of held-out promoters, as a page for browsers",
          "--scores promoter/held_out.tsv.gz --examples promoter/examples --output promoter.html"}},
        run_evaluate, finish_evaluate);
    add_evaluate_options(command, options);
    add_evaluate_aliases(command);
}

}  // namespace bigbird::cli
