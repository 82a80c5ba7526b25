// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_chromatin.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_predict_chromatin(const PredictChromatinOptions& options) {
    report(task_models::predict(predict_spec(options.predict, examples::Task::chromatin)));
    return 0;
}

}  // namespace bigbird::cli
