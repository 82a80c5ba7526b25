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
        .add_option("--threshold", options->threshold,
                    "A score from here on counts as a promoter: a number, or f1 or mcc, which take the best "
                    "on the rows "
                    "of validation (score them too: predict-promoter --examples, without --split)")
        ->type_name("SCORE|f1|mcc");
    const char* group = "Scan";
    CLI::Option* tss =
        command.add_option("--tss", options->tss, "Known TSSs, to tell right calls of --scan by")
            ->type_name("BED")
            ->group(group);
    command
        .add_option(
            "--scan", options->scan,
            "Scores of predict-promoter --scan along real sequence: false calls a megabase at the threshold")
        ->needs(tss)
        ->type_name("FILE")
        ->group(group);
    command
        .add_option("--distance", options->distance,
                    "Bases from a TSS within which a call is right, and within which calls are one")
        ->check(CLI::NonNegativeNumber)
        ->type_name("BP")
        ->group(group);
}

int run_evaluate_promoter(const EvaluatePromoterOptions& options) {
    evaluation::EvaluationRequest request = evaluation_request(options, examples::Task::promoter);
    request.threshold = evaluation::parse_threshold_rule(options.threshold);
    if (!options.scan.empty()) {
        request.scan = evaluation::ScanOptions{options.scan, options.tss, options.distance};
    }
    evaluate_to_reports(request, options);
    return 0;
}

}  // namespace bigbird::cli
