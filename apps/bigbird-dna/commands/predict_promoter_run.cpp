// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_promoter.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_predict_promoter(const PredictPromoterOptions& options) {
    report(task_models::predict(predict_spec(options.predict, examples::Task::promoter)));
    return 0;
}

}  // namespace bigbird::cli
