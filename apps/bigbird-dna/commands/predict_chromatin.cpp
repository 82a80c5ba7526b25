// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_chromatin.hpp"

namespace bigbird::cli {

void setup_predict_chromatin(Program& program, Runner<PredictChromatinOptions> run) {
    auto options = std::make_shared<PredictChromatinOptions>();
    CLI::App& command = program.add<PredictChromatinOptions>(
        "predict-chromatin", "Chromatin",
        "Predict the chromatin profile of BED rows: one row out for each row in, in order.", options,
        std::move(run));
    add_predict_options(command, options->predict, "the model's window lies about the row's middle");
    add_chromatin_predict_options(command, options->predict);
}

}  // namespace bigbird::cli
