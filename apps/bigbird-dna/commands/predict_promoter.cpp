// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_promoter.hpp"

namespace bigbird::cli {

void setup_predict_promoter(Program& program, Runner<PredictPromoterOptions> run) {
    auto options = std::make_shared<PredictPromoterOptions>();
    CLI::App& command = program.add<PredictPromoterOptions>(
        "predict-promoter", "Promoters",
        "Score BED rows as promoters: one row out for each row in, in order.", options, std::move(run));
    add_predict_options(
        command, options->predict,
        "the model's window lies about the row's TSS base: its first, on the minus strand its last");
    add_promoter_predict_options(command, options->predict);
}

}  // namespace bigbird::cli
