// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/predict_spec.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird::task_models {

void PredictSpec::validate() const {
    if (regions.empty() && examples.empty()) {
        throw ConfigError("--regions with --reference, or --examples, is needed");
    }
    if (tile == 0 && pool != Pool::none) {
        throw ConfigError("--pool needs tiles: give --tile or --scan");
    }
    if (tile > 0 && anchor == rows::Anchor::summit) {
        throw ConfigError("--anchor summit is of whole rows, --tile cuts them: leave one of them out");
    }
}

}  // namespace bigbird::task_models
