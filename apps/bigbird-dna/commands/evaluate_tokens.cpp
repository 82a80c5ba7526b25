// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/option_groups.hpp"
#include "support/help_notes.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/evaluation/bases/base_evaluation.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace bigbird::cli {

struct EvaluateTokensOptions {
    evaluation::BaseEvaluationRequest request;
    std::vector<std::filesystem::path> outputs;
    Overwrite overwrite = Overwrite::refuse;
};

namespace {

constexpr Examples examples{
    {{"Figures of held-out bases, as a table",
      "bigbird-dna evaluate-tokens --scores bases.tsv.gz --labels ../test_data/tokens/labels.bed.gz "
      "--reference ../test_data/genome/22.fa.gz --output bases.tsv"},
     {"The same as JSON on standard output",
      "bigbird-dna evaluate-tokens --scores bases.tsv.gz --labels ../test_data/tokens/labels.bed.gz "
      "--reference ../test_data/genome/22.fa.gz --output -"}}};

int run_evaluate_tokens(const EvaluateTokensOptions& options) {
    for (const std::filesystem::path& output : options.outputs)
        if (output != "-") prepare_output(output, options.overwrite);
    evaluation::BaseEvaluationRequest request = options.request;
    request.options.threads = resolve_threads(request.options.threads);
    const evaluation::BaseEvaluation evaluation = evaluation::evaluate_bases(request);
    for (const std::string& line : evaluation::to_lines(evaluation))
        log_info("{}", line);
    std::vector<std::unique_ptr<genome::TextOutput>> reports;
    for (const std::filesystem::path& output : options.outputs)
        reports.push_back(evaluation::write_report(evaluation, output, options.overwrite));
    genome::commit_together(reports);
    return 0;
}

}  // namespace

void setup_evaluate_tokens(Program& program) {
    auto options = std::make_shared<EvaluateTokensOptions>();
    evaluation::BaseEvaluationRequest& request = options->request;
    CLI::App& command =
        program.add("evaluate-tokens", "Bases",
                    "Evaluate scores of bases: AUROC, AUPRC, and F1 of the most probable label", options,
                    run_evaluate_tokens);
    add_value(command, "--scores", "FILE", request.scores,
              "Score table of predict-tokens, - for standard input")
        ->required();
    add_value(command, "--labels", "BED", request.labels,
              "BED with a label in column 4 for the bases of each row")
        ->required();
    add_reference_option(command, request.references);
    add_value(command, "--none-label", "NAME", request.none_label, "");
    add_value(command, "-o,--output", "PATH", options->outputs,
              "Report: .tsv, .csv, else JSON, by the name's ending; - for standard output. Several "
              "outputs can be given")
        ->required()
        ->group("Output");
    add_force_option(command, options->overwrite);
    add_resamples_option(command, request.options);
    add_seed_option(command, request.options.seed);
    add_threads_option(command, request.options.threads);
    add_examples(command, examples);
    show_first(command, {"--scores", "--labels", "--reference", "--output", "--force"});
}

}  // namespace bigbird::cli
