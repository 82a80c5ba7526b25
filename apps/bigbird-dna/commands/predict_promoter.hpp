// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/predict_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct PredictPromoterOptions {
    PredictOptions predict;
};

void setup_predict_promoter(Program& program, Runner<PredictPromoterOptions> run);
/// Only in bigbird-dna-tensors.
int run_predict_promoter(const PredictPromoterOptions& options);

}  // namespace bigbird::cli
