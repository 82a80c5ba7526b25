// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <string>

namespace bigbird::training {

enum class Decay : std::uint8_t { constant, linear, cosine };  ///< after the warm-up
inline constexpr Choices<Decay, 3> decays{
    {{Decay::constant, "constant"}, {Decay::linear, "linear"}, {Decay::cosine, "cosine"}}};

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

/// muon: Muon for the matrices within an encoder's layers, AdamW for the rest (training/optimizer.hpp).
enum class OptimizerKind : std::uint8_t { adamw, muon };
inline constexpr Choices<OptimizerKind, 2> optimizer_choices{
    {{OptimizerKind::adamw, "adamw"}, {OptimizerKind::muon, "muon"}}};

/// Settings of training/optimizer.hpp; betas and epsilon are AdamW's.
struct OptimizerSpec {
    OptimizerKind kind = OptimizerKind::adamw;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
    double weight_decay = 0.01;  ///< only matrices and embeddings: biases and LayerNorm (fewer than two
                                 ///< dimensions) do not decay
    double clip_norm = 1.0;      ///< largest gradient norm over all parameters; 0: no clipping
    /// Throws ConfigError.
    void validate() const;
    bool has_usual_betas() const { return beta1 == OptimizerSpec{}.beta1 && beta2 == OptimizerSpec{}.beta2; }
};

/// Settings of checkpoints, resuming and stopping. They do not change the result.
struct RunSpec {
    std::string resume{};  ///< a checkpoint or run folder; empty: the newest checkpoint, if any
    bool force = false;    ///< discard the existing run
    std::int64_t checkpoint_every = 1000;  ///< steps; one more is written at the end and on stopping
    int keep = 3;                          ///< newest checkpoints
    double max_hours = 0;                  ///< limit of this process; 0: none

    /// The settings that a run records, by the options' names.
    Json settings() const;
};

}  // namespace bigbird::training
