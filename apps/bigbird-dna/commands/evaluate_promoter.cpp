// SPDX-License-Identifier: Apache-2.0
#include "commands/evaluate_promoter.hpp"

#include <memory>
#include <utility>

namespace bigbird::cli {

void setup_evaluate_promoter(Program& program, Runner<EvaluatePromoterOptions> run) {
    auto options = std::make_shared<EvaluatePromoterOptions>();
    CLI::App& command =
        program.add("evaluate-promoter", "Promoters",
                    "How well promoter scores tell promoters from negatives: AUROC, AUPRC, F1, MCC", options,
                    std::move(run));
    add_evaluate_options(command, *options);
    command
        .add_option("--threshold", options->evaluation.threshold, "A score from here on counts as a promoter")
        ->type_name("SCORE");
}

int run_evaluate_promoter(const EvaluatePromoterOptions& options) {
    evaluate_to_report(options, tasks::Task::promoter);
    return 0;
}

}  // namespace bigbird::cli
