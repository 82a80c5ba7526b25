// SPDX-License-Identifier: Apache-2.0
// The interface between predict() and the models that score its rows: rows in, probabilities out.
#pragma once

#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/score/grid_rows.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace bigbird::task_models {

/// Throws ConfigError if there is no model, or if the models differ in labels, task or window.
void require_agreement(std::span<const ModelFolder> models);

/// Whether any of the models is a bin model.
bool any_bins(std::span<const ModelFolder> models);

/// Rows in the form that a scorer reads.
struct PreparedRows {
    std::vector<bool> truncated;  ///< for every row: whether the model reads only the middle of its window

    /// For models with one window per row: windows as token ids. A reading is one way of encoding them:
    /// models with different encodings, and both strands, have separate readings.
    std::vector<std::vector<EncodedWindow>> readings{};  ///< [reading][kept window]
    std::vector<std::size_t> kept{};                     ///< indices of the windows that are not only N

    /// For bin models.
    std::vector<GridRow> places{};
    std::unordered_map<std::string, std::string> sequences{};  ///< by contig, where rows have their own
};

class RowScorer {
public:
    virtual ~RowScorer() = default;
    /// At least one model; all have the same labels, task and window.
    virtual std::span<const ModelFolder> models() const = 0;
    /// How windows are placed relative to rows.
    virtual rows::RegionOptions region_options(rows::Anchor anchor) const = 0;
    /// Number of rows per chunk: enough to fill batches, and few enough for memory.
    virtual std::size_t rows_a_chunk() const = 0;
    /// Prepares filled rows and moves their sequences out. Can run concurrently with score().
    virtual PreparedRows prepare(std::span<rows::RegionRow> rows, int threads) const = 0;
    /// Whether both rows are computed together. A job in parts then puts them into the same part.
    virtual bool together(const rows::RegionRow&, const rows::RegionRow&) const { return false; }
    /// Number of windows that `row` needs and `before`, the row before it, did not. `before` may be null.
    virtual std::int64_t new_windows(const rows::RegionRow* before, const rows::RegionRow& row) const = 0;
    /// Returns probabilities (rows, labels) in row-major order; NaN for rows that are not scored.
    /// `after_batch` gets the completed share, 0 to 1. One thread at a time.
    virtual std::vector<float> score(const PreparedRows& rows,
                                     const std::function<void(double)>& after_batch) = 0;

    const rows::LabelTable& labels() const { return models().front().labels; }
    const TaskInfo& info() const { return models().front().info; }
};

/// Scores windows with one model or with the mean of several. A window's scores do not depend on the other
/// windows of the batch. In float32 they agree to 1e-5 for any batch_tokens and threads.
class Predictor : public RowScorer {
public:
    /// Throws as require_agreement().
    Predictor(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens);

    /// Encodes normalized sequences on `threads` threads. An empty sequence counts as only N. Thread-safe.
    PreparedRows encode(std::span<const std::string> sequences, int threads) const;
    /// The same as score() in double precision, because odds of probabilities near 1 are computed from them.
    std::vector<double> probabilities(const PreparedRows& rows,
                                      const std::function<void(double)>& after_batch = {});

    std::span<const ModelFolder> models() const override { return models_; }
    rows::RegionOptions region_options(rows::Anchor anchor) const override;
    std::size_t rows_a_chunk() const override;
    PreparedRows prepare(std::span<rows::RegionRow> rows, int threads) const override;
    std::int64_t new_windows(const rows::RegionRow*, const rows::RegionRow& row) const override {
        return rows::is_scored(row.head.status) ? 1 : 0;
    }
    std::vector<float> score(const PreparedRows& rows,
                             const std::function<void(double)>& after_batch) override;

private:
    struct Reading {
        std::size_t model = 0;  ///< the first model with this reading
        bool reverse = false;
    };

    std::vector<ModelFolder> models_;
    std::int64_t batch_tokens_;
    std::vector<Reading> readings_;
    std::vector<std::vector<std::size_t>> readings_of_;  ///< readings of each model
};

/// How models with one window per row place it, as in predict().
struct RowWindows {
    /// `on_contigs`: rows are regions, not records.
    RowWindows(std::span<const ModelFolder> models, bool on_contigs);

    bool whole_records = false;  ///< a record is read unchanged
    bool about_tss = false;      ///< the window is around a row's TSS, on its strand, instead of its middle
    rows::WindowBounds bounds;

    genome::Interval of(const genome::Interval& where, genome::Strand strand) const;
    bool reverse(genome::Strand strand) const { return about_tss && strand == genome::Strand::reverse; }
};

struct BinsScoring {
    Strands strands = Strands::none;
    std::int64_t batch_tokens = 0;  ///< positions per forward pass; on a CPU always one window, which
                                    ///< keeps scores bit-identical whatever the other windows are
    int threads = 1;
    bool largest = false;        ///< a row longer than a bin gets each label's largest score of the bins that
                                 ///< it overlaps, instead of the mean
    bool own_sequences = false;  ///< a row's sequence is a complete contig; `sequence_of` is not called
};
/// A scorer for bin models (grid_rows.hpp). Throws ConfigError if a model is not a bin model, or if models
/// differ in labels or bins.
std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how);

}  // namespace bigbird::task_models
