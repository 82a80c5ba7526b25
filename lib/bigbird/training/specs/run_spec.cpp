// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/specs/run_spec.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bigbird::training {

namespace {

constexpr std::int64_t longest_warmup = 10'000;  // the paper's warm-up, which is longer than short runs

}  // namespace

void LearningRateSpec::validate() const {
    if (!(peak > 0) || !std::isfinite(peak)) throw ConfigError("--learning-rate must be above 0");
    if (total_steps < 1) throw ConfigError("--steps must be at least 1");
    if (warmup_steps < 0 || warmup_steps > total_steps)
        throw ConfigError("--warmup-steps must lie between 0 and the number of steps");
}

LearningRateSpec LearningRateSpec::over(std::int64_t steps) const {
    LearningRateSpec spec = *this;
    spec.total_steps = steps;
    if (warmup_steps < 0) spec.warmup_steps = std::min(longest_warmup, steps / 10);
    return spec;
}

double learning_rate(const LearningRateSpec& spec, std::int64_t step) {
    if (step < spec.warmup_steps)
        return spec.peak * static_cast<double>(step) / static_cast<double>(spec.warmup_steps);
    // 0 at the warm-up's end (or the first step), 1 one step after the last.
    const std::int64_t first = spec.warmup_steps > 0 ? spec.warmup_steps : 1;
    const double done = static_cast<double>(step - first) / static_cast<double>(spec.total_steps + 1 - first);
    switch (spec.decay) {
        case Decay::constant:
            return spec.peak;
        case Decay::linear:
            return spec.peak * (1.0 - done);
        case Decay::cosine:
            return spec.peak * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    }
    return spec.peak;
}

void OptimizerSpec::validate() const {
    if (!(weight_decay >= 0)) throw ConfigError("--weight-decay must not be negative");
    if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && epsilon > 0))
        throw ConfigError("the optimizer's betas must lie in [0, 1) and its epsilon above 0");
}

Json RunSpec::settings() const {
    return {{"--checkpoint-every", checkpoint_every}, {"--keep", keep}};
}

}  // namespace bigbird::training
