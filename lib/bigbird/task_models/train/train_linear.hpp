// SPDX-License-Identifier: Apache-2.0
// The linear baselines: ridge regression and a support vector machine on k-mers of the windows.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/network/bases_network.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bigbird::task_models {

struct LinearTraining {
    std::shared_ptr<TaskNetwork> network;
    Json metrics;  ///< for metrics.jsonl: the chosen settings, and with validation "eval_auroc"
    std::optional<FittedCalibration> calibration;  ///< on the rows of validation, if any
};

/// Solves for all labels. `info` gets its description (TaskInfo::network). `positive_weight` (none: balanced)
/// weights gkm-svm's positives; kmer-ridge ignores it. Windows of gkm-svm are drawn by `seed`: those with a
/// label, up to half of most_windows, and others. Throws InputError if no window of train can be used,
/// ConfigError for impossible k-mers, Stopped.
LinearTraining train_linear(TaskInfo& info, const examples::ExampleSet& examples, const LinearSpec& spec,
                            const std::optional<double>& positive_weight, std::uint64_t seed, int threads);

}  // namespace bigbird::task_models
