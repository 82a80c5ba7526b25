// SPDX-License-Identifier: Apache-2.0
// The linear baselines: ridge regression and a support vector machine on k-mers of the windows.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/baseline_windows.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bigbird::task_models {

struct LinearSpec {
    int word = 0, informative = 0;  ///< 0: 5 and 5 (kmer-ridge), 8 and 5 (gkm-svm)
    double penalty = 0;  ///< of kmer-ridge; 0: the best of 1e-3 … 1000 by mean AUROC on validation
    double cost = 1;     ///< C of gkm-svm
    std::int64_t most_windows = 4000;  ///< of gkm-svm, whose features are held in memory: 16 bytes each
};

struct LinearTraining {
    std::shared_ptr<WindowNetwork> network;
    Json metrics;  ///< for metrics.jsonl: what was chosen, and on validation "eval_auroc"
};

/// Solves for all labels. `info` gets its description (TaskInfo::network). `positive_weight` (none: balanced)
/// weighs gkm-svm's positives; kmer-ridge has no use for it. Windows of gkm-svm are drawn by `seed`: all that
/// have a label, as far as they fit into half of most_windows, and others. Throws InputError where no window
/// of train can be used, ConfigError for words that cannot be, Stopped.
LinearTraining train_linear(TaskInfo& info, const examples::ExampleSet& examples, const LinearSpec& spec,
                            const std::optional<double>& positive_weight, std::uint64_t seed, int threads);

}  // namespace bigbird::task_models
