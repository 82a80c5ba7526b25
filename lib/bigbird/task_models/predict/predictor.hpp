// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/strands.hpp"
#include "bigbird/task_models/task_model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Scores windows with one model or the mean of several. A window's scores depend on nothing else in the
/// batch; in float32 they agree to 1e-5 for any batch_tokens and threads.
class Predictor {
public:
    /// Throws ConfigError where there is no model, or where labels, task or window of the models differ.
    Predictor(std::vector<TaskModel> models, Strands strands, std::int64_t batch_tokens);

    const rows::LabelTable& labels() const { return models_.front().labels; }
    const TaskInfo& info() const { return models_.front().info; }
    const std::vector<TaskModel>& models() const { return models_; }
    std::int64_t batch_tokens() const { return batch_tokens_; }

    /// Windows as ids, once for each way in which the models and the strands read them.
    struct Encoded {
        std::vector<std::vector<EncodedWindow>> readings;  ///< [reading][kept window]
        std::vector<std::size_t> kept;                     ///< places of the windows that are not all N
        std::vector<bool> truncated;                       ///< of every window, by any reading
        std::size_t windows = 0;
    };
    /// Encodes normalised sequences (an empty one counts as all N) on `threads` threads. Thread-safe.
    Encoded encode(std::span<const std::string> sequences, int threads) const;

    /// Probabilities, (windows, labels) row by row; NaN for windows that are all N. `after_batch` (may be
    /// empty) is told the part of the windows, 0 to 1, that is done. One thread at a time.
    std::vector<float> score(const Encoded& encoded, const std::function<void(double)>& after_batch = {});
    /// The same in double precision, for what is computed from them (odds of probabilities near 1).
    std::vector<double> probabilities(const Encoded& encoded,
                                      const std::function<void(double)>& after_batch = {});

private:
    struct Reading {
        std::size_t model = 0;  ///< the first that reads so
        bool reverse = false;
    };

    std::vector<TaskModel> models_;
    std::int64_t batch_tokens_;
    std::vector<Reading> readings_;
    std::vector<std::vector<std::size_t>> readings_of_;  ///< for each model
};

}  // namespace bigbird::task_models
