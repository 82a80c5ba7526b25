// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_promoter.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_predict_promoter(const PredictPromoterOptions& options) {
    report(scoring::predict(predict_spec(options.predict, tasks::Task::promoter)));
    return 0;
}

}  // namespace bigbird::cli
