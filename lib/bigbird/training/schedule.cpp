// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/schedule.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>
#include <numbers>

namespace bigbird::training {

Decay parse_decay(const std::string& word) {
    for (const Decay decay : {Decay::constant, Decay::linear, Decay::cosine}) {
        if (word == to_string(decay)) {
            return decay;
        }
    }
    throw ConfigError("--schedule is '" + word + "'; it can be constant, linear or cosine");
}

std::string to_string(Decay decay) {
    switch (decay) {
        case Decay::constant:
            return "constant";
        case Decay::linear:
            return "linear";
        case Decay::cosine:
            return "cosine";
    }
    return {};
}

void LearningRateSpec::validate() const {
    if (!(peak > 0) || !std::isfinite(peak)) {
        throw ConfigError("--learning-rate must be above 0");
    }
    if (total_steps < 1) {
        throw ConfigError("--steps must be at least 1");
    }
    if (warmup_steps < 0 || warmup_steps > total_steps) {
        throw ConfigError("--warmup-steps must lie between 0 and the number of steps");
    }
}

double learning_rate(const LearningRateSpec& spec, std::int64_t step) {
    if (step < spec.warmup_steps) {
        return spec.peak * static_cast<double>(step) / static_cast<double>(spec.warmup_steps);
    }
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

}  // namespace bigbird::training
