// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/predict_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct PredictChromatinOptions {
    PredictOptions predict;
};

void setup_predict_chromatin(Program& program, Runner<PredictChromatinOptions> run);
/// Only in bigbird-dna-tensors.
int run_predict_chromatin(const PredictChromatinOptions& options);

}  // namespace bigbird::cli
