// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/specs/evaluation_spec.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird::pretraining {

void MlmEvaluationSpec::validate() const {
    if (held_out.empty()) throw ConfigError("--documents is needed: held-out sequence to score");
}

}  // namespace bigbird::pretraining
