// SPDX-License-Identifier: Apache-2.0
// What predict() knows of the models that score its rows: rows in, probabilities out.
#pragma once

#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/score/grid_rows.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Throws ConfigError where there is no model, or where labels, task or window of the models differ.
void require_agreement(std::span<const ModelFolder> models);

/// Scores windows with one model or the mean of several. A window's scores depend on nothing else in the
/// batch; in float32 they agree to 1e-5 for any batch_tokens and threads.
class Predictor {
public:
    /// Throws what require_agreement() does.
    Predictor(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens);

    const rows::LabelTable& labels() const { return models_.front().labels; }
    const TaskInfo& info() const { return models_.front().info; }
    const std::vector<ModelFolder>& models() const { return models_; }
    std::int64_t batch_tokens() const { return batch_tokens_; }

    /// Windows as ids, once for each way in which the models and the strands read them.
    struct Encoded {
        std::vector<std::vector<EncodedWindow>> readings;  ///< [reading][kept window]
        std::vector<std::size_t> kept;                     ///< indices of the windows that are not all N
        std::vector<bool> truncated;                       ///< of every window, by any reading
        std::size_t windows = 0;
    };
    /// Encodes normalised sequences (an empty one counts as all N) on `threads` threads. Thread-safe.
    Encoded encode(std::span<const std::string> sequences, int threads) const;

    /// Probabilities, (windows, labels) row by row; NaN for windows that are all N. In double precision, for
    /// what is computed from them (odds of probabilities near 1). `after_batch` (may be empty) is told the
    /// part of the windows, 0 to 1, that is done. One thread at a time.
    std::vector<double> score(const Encoded& encoded, const std::function<void(double)>& after_batch = {});

private:
    struct Reading {
        std::size_t model = 0;  ///< the first that reads so
        bool reverse = false;
    };

    std::vector<ModelFolder> models_;
    std::int64_t batch_tokens_;
    std::vector<Reading> readings_;
    std::vector<std::vector<std::size_t>> readings_of_;  ///< for each model
};

/// How models that read a window for each row lay it, as predict() does.
struct RowWindows {
    /// `on_contigs`: rows are regions, not records.
    RowWindows(std::span<const ModelFolder> models, bool on_contigs);

    bool whole_records = false;  ///< a record is read as it is
    bool about_tss = false;      ///< the window is about a row's TSS, not its middle; on its strand
    rows::WindowBounds bounds;

    genome::Interval of(const genome::Interval& where, genome::Strand strand) const;
    bool reverse(genome::Strand strand) const { return about_tss && strand == genome::Strand::reverse; }
};

/// Rows as a scorer reads them.
struct PreparedRows {
    PreparedRows() = default;
    PreparedRows(const PreparedRows&) = delete;
    PreparedRows& operator=(const PreparedRows&) = delete;
    virtual ~PreparedRows() = default;
    std::vector<bool> truncated;  ///< of every row: the model takes only the middle of its window
};

class RowScorer {
public:
    virtual ~RowScorer() = default;
    /// At least one; they agree in labels, task and window.
    virtual std::span<const ModelFolder> models() const = 0;
    /// How rows are laid about what is scored.
    virtual rows::RegionOptions region_options(rows::Anchor anchor) const = 0;
    /// Enough to fill batches, few enough to hold.
    virtual std::size_t rows_a_chunk() const = 0;
    /// Rows that were filled; takes their sequences. Thread-safe beside score().
    virtual std::unique_ptr<PreparedRows> prepare(std::span<rows::RegionRow> rows, int threads) const = 0;
    /// Whether a row is computed with the one before it; a work in parts then keeps them together.
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

/// By models that read a window for each row.
std::unique_ptr<RowScorer> window_scorer(Predictor predictor);

struct BinsScoring {
    Strands strands = Strands::none;
    std::int64_t batch_tokens = 0;  ///< positions through a network at once; on a CPU always one window, so
                                    ///< that its scores do not depend on the windows beside it by one bit
    int threads = 1;
    bool largest = false;  ///< a row longer than a bin gets the largest score of the bins that it touches,
                           ///< for each label, instead of their mean
    bool own_sequences = false;  ///< a row's sequence is all of its contig; `sequence_of` is not asked
};
/// By models of bins, as grid_rows.hpp has it. Throws ConfigError where a model is no model of bins, or
/// labels or bins of the models differ.
std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how);

}  // namespace bigbird::task_models
