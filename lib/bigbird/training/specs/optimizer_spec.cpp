// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/specs/optimizer_spec.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird::training {

void OptimizerSpec::validate() const {
    if (!(weight_decay >= 0)) throw ConfigError("--weight-decay must not be negative");
    if (!(clip_norm >= 0)) throw ConfigError("--clip-norm must not be negative");
    if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && epsilon > 0))
        throw ConfigError("the optimizer's betas must lie in [0, 1) and its epsilon above 0");
}

bool OptimizerSpec::has_usual_betas() const {
    const OptimizerSpec usual;
    return beta1 == usual.beta1 && beta2 == usual.beta2;
}

}  // namespace bigbird::training
