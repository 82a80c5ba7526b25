// SPDX-License-Identifier: Apache-2.0
// How models score rows that a Placement places: a window per row (Predictor), or bins or bases, where
// adjacent rows share a window's forward pass.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/placement.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bigbird::tasks {

/// A row on the reference. Rows that are not `wanted` get no values.
struct GridRow {
    genome::Interval where;
    bool wanted = false;
};

/// Number of windows per forward pass. It is one on a CPU, so that scores are bit-identical whatever the
/// other windows are.
std::size_t windows_at_once(const BinNetwork& network, std::int64_t batch_tokens);

/// Reads windows of one model, and caches the last ones for later rows.
class GridRows {
public:
    /// The model's values of windows: (windows, window_bins, width) float32, on the CPU.
    using Values = std::function<at::Tensor(std::span<const std::string> windows)>;

    /// `at_once`: number of windows per call of `values`. `sequence_of` must outlive this object.
    GridRows(const bins::Grid& grid, const SequenceOf& sequence_of, std::size_t at_once, Values values);

    /// Adds the values of rows[i] to row i of `sums` (rows, width). `after_window` (may be empty) gets the
    /// completed share, 0 to 1. One thread at a time.
    void add(std::span<const GridRow> rows, std::int64_t width, std::span<double> sums,
             const std::function<void(double)>& after_window);

private:
    /// A window of a contig's grid.
    struct WindowKey {
        std::string contig;
        std::int64_t number = 0;
        auto operator<=>(const WindowKey&) const = default;
    };
    /// The weight of a window's bin in a row.
    struct Share {
        std::size_t row = 0;
        std::int64_t bin = 0;  ///< from the window's first bin
        double weight = 0;
    };
    using Plan = std::vector<std::pair<WindowKey, std::vector<Share>>>;  // ascending

    Plan plan_of(std::span<const GridRow> rows) const;
    const at::Tensor* find(const WindowKey& place) const;
    /// Returns the values of the windows plan[first], plan[first + 1], … of one forward pass.
    std::vector<at::Tensor> read(const Plan& plan, std::size_t first);

    bins::Grid grid_;
    const SequenceOf& sequence_of_;
    std::size_t at_once_;
    Values values_;
    std::deque<std::pair<WindowKey, at::Tensor>> kept_;
};

/// Rows in the form that a scorer reads.
struct PreparedRows {
    std::vector<bool> truncated;  ///< for every row: whether the model reads only the middle of its window

    /// For models with one window per row: windows as token ids. A reading is one way of encoding them:
    /// models with different encodings, and both strands, have separate readings.
    std::vector<std::vector<EncodedWindow>> readings{};  ///< [reading][kept window]
    std::vector<std::size_t> kept{};                     ///< indices of the windows that are not only N

    /// For models that label bases: the window, an index into a reading, of each row that is scored.
    std::vector<std::size_t> window_of{};

    /// For bin models and models that label bases.
    std::vector<GridRow> places{};
    std::unordered_map<std::string, std::string> sequences{};  ///< by contig, where rows have their own
};

class RowScorer {
public:
    /// Throws as Placement.
    RowScorer(std::vector<ModelFolder> models, bool by_records)
        : models_(std::move(models)), placement_(models_, by_records) {}
    virtual ~RowScorer() = default;
    /// Number of rows per chunk: enough to fill batches, and few enough for memory.
    virtual std::size_t rows_per_chunk() const = 0;
    /// Number of values that score() gives a filled row: one per label, or of each base one per label, or one
    /// per label and then the profile.
    virtual std::size_t values_of(const rows::RegionRow&) const { return labels().size(); }
    /// Prepares filled rows and moves their sequences out, unless bases have scores. Can run concurrently
    /// with score().
    virtual PreparedRows prepare(std::span<rows::RegionRow> rows, int threads) const = 0;
    /// Returns values_of() of all rows, row by row: probabilities, or numbers; NaN for rows, and bases, that
    /// are not scored. `after_batch` gets the completed share, 0 to 1. One thread at a time.
    virtual std::vector<float> score(const PreparedRows& rows,
                                     const std::function<void(double)>& after_batch) = 0;

    std::span<const ModelFolder> models() const { return models_; }
    const Placement& placement() const { return placement_; }
    const rows::LabelTable& labels() const { return models_.front().labels; }
    const TaskInfo& info() const { return models_.front().info; }

protected:
    std::vector<ModelFolder> models_;
    Placement placement_;
};

/// Scores windows with one model or with the mean of several. A window's scores do not depend on the other
/// windows of the batch. In float32 they agree to 1e-5 for any batch_tokens and threads.
class Predictor : public RowScorer {
public:
    /// Throws as Placement.
    Predictor(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens,
              bool by_records = false);

    /// Encodes normalized sequences on `threads` threads. An empty sequence counts as only N. Thread-safe.
    PreparedRows encode(std::span<const std::string> sequences, int threads) const;
    /// The same as score() in double precision, because odds of probabilities near 1 are computed from them.
    std::vector<double> probabilities(const PreparedRows& rows,
                                      const std::function<void(double)>& after_batch = {});

    std::size_t rows_per_chunk() const override;
    PreparedRows prepare(std::span<rows::RegionRow> rows, int threads) const override;
    std::vector<float> score(const PreparedRows& rows,
                             const std::function<void(double)>& after_batch) override;

protected:
    struct Reading {
        std::size_t model = 0;  ///< the first model with this reading
        bool reverse = false;
    };

    std::int64_t batch_tokens_;
    std::vector<Reading> readings_;
    std::vector<std::vector<std::size_t>> readings_of_;  ///< readings of each model
};

/// A scorer of windows with their profiles, for models that give them (tasks/profile_network.hpp). A row's
/// values are the reads of each group, then for each group (output, columns of the group) the reads of each
/// base: the softmax of the mean logits over models and strands, times the reads. Throws as Placement and
/// profile_networks().
std::unique_ptr<RowScorer> profile_scorer(std::vector<ModelFolder> models, Strands strands,
                                          std::int64_t batch_tokens);

struct BinsScoring {
    Strands strands = Strands::none;
    std::int64_t batch_tokens = 0;  ///< positions per forward pass; on a CPU always one window, which
                                    ///< keeps scores bit-identical whatever the other windows are
    int threads = 1;                ///< LibTorch's
    bool largest = false;  ///< a row longer than a bin gets each label's largest score of the bins that it
                           ///< overlaps, instead of the mean
};
/// A scorer for bin models. Without `sequence_of`, a row's sequence is a complete contig. Throws as
/// Placement.
std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how);

/// A scorer of every base of the rows of core_rows(): a base has the probabilities of its token, NaN if no
/// token spells it. Throws as Placement.
std::unique_ptr<RowScorer> bases_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                        Strands strands, std::int64_t batch_tokens);

}  // namespace bigbird::tasks
