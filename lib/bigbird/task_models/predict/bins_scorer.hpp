// SPDX-License-Identifier: Apache-2.0
// Rows scored by models of bins. Windows lie on a grid of contig coordinates (bins/grid.hpp); a row gets the
// mean of the bins that it overlaps, weighted by the bases that they share, so its score follows from the
// reference and the row alone; rows that lie side by side share a window's pass.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/task_models/predict/row_scorer.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Exactly where.size() letters of normalised sequence, N beyond a contig's ends. Thread-safe.
using SequenceOf = std::function<std::string(const genome::Interval& where)>;

struct BinsScoring {
    Strands strands = Strands::none;
    std::int64_t batch_tokens = 0;  ///< positions through a network at once; on a CPU always one window, so
                                    ///< that its scores do not depend on the windows beside it by one bit
    Computing computing = {};
    int threads = 1;
};

/// Throws ConfigError where a model is no model of bins, or labels or bins of the models differ.
std::unique_ptr<RowScorer> bins_scorer(std::vector<TaskModel> models, SequenceOf sequence_of,
                                       const BinsScoring& how);

}  // namespace bigbird::task_models
