// SPDX-License-Identifier: Apache-2.0
#include "commands/evaluate_chromatin.hpp"

#include <memory>
#include <utility>

namespace bigbird::cli {

void setup_evaluate_chromatin(Program& program, Runner<EvaluateChromatinOptions> run) {
    auto options = std::make_shared<EvaluateChromatinOptions>();
    CLI::App& command =
        program.add("evaluate-chromatin", "Chromatin",
                    "How well scores tell each label's bins: AUROC and AUPRC a label and a group", options,
                    std::move(run));
    add_evaluate_options(command, *options);
    command
        .add_option("--min-positives", options->evaluation.min_positives,
                    "Labels with fewer positive rows do not count in means and medians")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command.add_flag("--published", options->published,
                     "Set the figures that DeepSEA published for its 919 labels beside ours");
}

int run_evaluate_chromatin(const EvaluateChromatinOptions& options) {
    evaluation::EvaluationRequest request = evaluation_request(options, examples::Task::chromatin);
    request.published = options.published;
    evaluate_to_reports(request, options);
    return 0;
}

}  // namespace bigbird::cli
