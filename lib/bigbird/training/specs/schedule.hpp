// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"

#include <cstdint>
#include <string>

namespace bigbird::training {

enum class Decay : std::uint8_t { constant, linear, cosine };  ///< after the warm-up
inline constexpr Choices<Decay, 3> decays{
    {{Decay::constant, "constant"}, {Decay::linear, "linear"}, {Decay::cosine, "cosine"}}};
std::string to_string(Decay decay);

struct LearningRateSpec {
    double peak = 1e-4;
    std::int64_t warmup_steps = 0;  ///< -1: over() sets it
    std::int64_t total_steps = 1;
    Decay decay = Decay::linear;

    /// Throws ConfigError: peak not above 0, warm-up negative or longer than the run.
    void validate() const;
    /// The settings for a run of `steps`: a warm-up of -1 becomes a tenth of the steps, at most 10,000.
    LearningRateSpec over(std::int64_t steps) const;
};

/// The rate of one step, counted from 1: rises linearly to the peak at step `warmup_steps`, then falls so
/// that the step after the last would have 0 (constant: stays). Pure.
double learning_rate(const LearningRateSpec& spec, std::int64_t step);

}  // namespace bigbird::training
