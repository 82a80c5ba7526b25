// SPDX-License-Identifier: Apache-2.0
#include "options/loop_spec.hpp"

namespace bigbird::cli {

training::LoopSpec loop_spec(const RunOptions& run, const OptimizationOptions& optimization) {
    training::LoopSpec spec;
    spec.learning_rate.peak = optimization.learning_rate;
    spec.learning_rate.decay = training::parse_decay(optimization.decay);
    spec.optimizer.weight_decay = optimization.weight_decay;
    spec.optimizer.clip_norm = optimization.clip_norm;
    spec.optimizer.beta1 = optimization.betas.at(0);
    spec.optimizer.beta2 = optimization.betas.at(1);
    spec.checkpoint_every = run.checkpoint_every;
    spec.keep = run.keep;
    spec.keep_every = run.keep_every;
    spec.max_hours = run.max_hours;
    spec.resume = run.resume;
    spec.force = run.force;
    spec.free_options = Json{
        {"--checkpoint-every", run.checkpoint_every}, {"--keep", run.keep}, {"--keep-every", run.keep_every}};
    return spec;
}

}  // namespace bigbird::cli
