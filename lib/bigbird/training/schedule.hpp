// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bigbird::training {

enum class Decay : std::uint8_t { constant, linear, cosine };  ///< after the warm-up

/// "constant", "linear", "cosine". Throws ConfigError listing them.
Decay parse_decay(const std::string& word);
std::string to_string(Decay decay);

struct LearningRateSpec {
    double peak = 1e-4;
    std::int64_t warmup_steps = 0;
    std::int64_t total_steps = 1;
    Decay decay = Decay::linear;

    /// Throws ConfigError: peak not above 0, warm-up negative or longer than the run.
    void validate() const;
};

/// The rate of one step, counted from 1: rises linearly to the peak at step `warmup_steps`, then falls so
/// that the step after the last would have 0 (constant: stays). Pure.
double learning_rate(const LearningRateSpec& spec, std::int64_t step);

}  // namespace bigbird::training
