// SPDX-License-Identifier: Apache-2.0
// Rows scored by models of bins, as grid_rows.hpp has it.
#pragma once

#include "bigbird/task_models/predict/grid_rows.hpp"
#include "bigbird/task_models/predict/row_scorer.hpp"

#include <memory>
#include <vector>

namespace bigbird::task_models {

struct BinsScoring {
    Strands strands = Strands::none;
    std::int64_t batch_tokens = 0;  ///< positions through a network at once; on a CPU always one window, so
                                    ///< that its scores do not depend on the windows beside it by one bit
    int threads = 1;
};

/// Throws ConfigError where a model is no model of bins, or labels or bins of the models differ.
std::unique_ptr<RowScorer> bins_scorer(std::vector<TaskModel> models, SequenceOf sequence_of,
                                       const BinsScoring& how);

}  // namespace bigbird::task_models
