// SPDX-License-Identifier: Apache-2.0
// What predict() knows of the models that score its rows: rows in, probabilities out.
#pragma once

#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/predict/predictor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Rows as a scorer reads them.
struct PreparedRows {
    PreparedRows() = default;
    PreparedRows(const PreparedRows&) = delete;
    PreparedRows& operator=(const PreparedRows&) = delete;
    virtual ~PreparedRows() = default;
    std::vector<bool> truncated;  ///< of every row: the model takes the middle of its window alone
};

class RowScorer {
public:
    virtual ~RowScorer() = default;
    /// At least one; they agree in labels, task and window.
    virtual std::span<const TaskModel> models() const = 0;
    /// How rows are laid about what is scored.
    virtual rows::RegionOptions region_options(rows::Anchor anchor) const = 0;
    /// Enough to fill batches, few enough to hold.
    virtual std::int64_t rows_a_chunk() const = 0;
    /// Rows that were filled; takes their sequences. Thread-safe beside score().
    virtual std::unique_ptr<PreparedRows> prepare(std::span<rows::RegionRow> rows, int threads) const = 0;
    /// Whether a row is computed with the one before it, which a work in parts does not part then.
    virtual bool together(const rows::RegionRow&, const rows::RegionRow&) const { return false; }
    /// How many windows a row reads that `before` (may be null), the row in front of it, did not.
    virtual std::int64_t new_windows(const rows::RegionRow* before, const rows::RegionRow& row) const = 0;
    /// Probabilities, (rows, labels) row by row, NaN where a row is not scored. `after_batch` is told the
    /// part that is done, 0 to 1. One thread at a time.
    virtual std::vector<float> score(const PreparedRows& rows,
                                     const std::function<void(double)>& after_batch) = 0;

    const rows::LabelTable& labels() const { return models().front().labels; }
    const TaskInfo& info() const { return models().front().info; }
};

/// By models that read a window a row.
std::unique_ptr<RowScorer> window_scorer(Predictor predictor);

}  // namespace bigbird::task_models
