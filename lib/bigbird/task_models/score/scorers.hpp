// SPDX-License-Identifier: Apache-2.0
// How models score rows: a window per row (Predictor), or bins. Windows of bin models are on a grid of contig
// coordinates (bins/config.hpp). A row gets the mean of the bins that it overlaps, weighted by the number of
// overlapping bases. It therefore depends only on the reference and the row. Adjacent rows share a window's
// forward pass.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/bins/substitutions.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// Returns exactly where.size() bases of normalized sequence, with N beyond the contig's ends. Thread-safe.
using SequenceOf = std::function<std::string(const genome::Interval& where)>;
/// The bases of `where` in a record, which is treated as a contig.
std::string cut_out(const std::string& record, const genome::Interval& where);
/// SequenceOf for a record.
SequenceOf sequence_of_record(std::string dna);

/// A row on the reference. Rows that are not `wanted` get no values.
struct GridRow {
    genome::Interval where;
    bool wanted = false;
};

/// Whether both rows begin in the core of the same window.
bool begin_in_one_window(const bins::Grid& grid, const genome::Interval& a, const genome::Interval& b);

/// Number of windows with bins of `where` but none of `before`. `before` may be null, and otherwise precedes
/// `where`.
std::int64_t count_new_windows(const bins::Grid& grid, const genome::Interval* before,
                               const genome::Interval& where);

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
    struct Place {
        std::string contig;
        std::int64_t number = 0;
        auto operator<=>(const Place&) const = default;
    };
    /// The weight of a window's bin in a row.
    struct Share {
        std::size_t row = 0;
        std::int64_t bin = 0;  ///< from the window's first bin
        double weight = 0;
    };
    using Plan = std::vector<std::pair<Place, std::vector<Share>>>;  // ascending

    Plan plan_of(std::span<const GridRow> rows) const;
    const at::Tensor* find(const Place& place) const;
    /// Returns the values of the windows plan[first], plan[first + 1], … of one forward pass.
    std::vector<at::Tensor> read(const Plan& plan, std::size_t first);

    bins::Grid grid_;
    const SequenceOf& sequence_of_;
    std::size_t at_once_;
    Values values_;
    std::deque<std::pair<Place, at::Tensor>> kept_;
};

/// Throws ConfigError if there is no model, or if the models differ in labels, task or window.
void require_agreement(std::span<const ModelFolder> models);

/// Whether any of the models is a bin model.
bool any_bins(std::span<const ModelFolder> models);
/// Whether the reverse complement is read, in the order of reading.
std::vector<bool> directions_of(Strands strands);

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
    /// Throws as require_agreement().
    explicit RowScorer(std::vector<ModelFolder> models) : models_(std::move(models)) {
        require_agreement(models_);
    }
    virtual ~RowScorer() = default;
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

    std::span<const ModelFolder> models() const { return models_; }
    const rows::LabelTable& labels() const { return models_.front().labels; }
    const TaskInfo& info() const { return models_.front().info; }

protected:
    std::vector<ModelFolder> models_;
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
    bool largest = false;  ///< a row longer than a bin gets each label's largest score of the bins that it
                           ///< overlaps, instead of the mean
};
/// A scorer for bin models. Without `sequence_of`, a row's sequence is a complete contig. Throws ConfigError
/// if a model is not a bin model, or if models differ in labels or bins.
std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how);

/// A window of a contig's grid after edits of its sequence, as each bin model and strand reads it: the mean
/// of their probabilities, in double precision on the CPU. predict-variants and predict-mutagenesis call the
/// same functions, so that they agree to the last bit. Not thread-safe; the models must outlive it.
class EditedWindow {
public:
    /// `models`: those of require_one_grid(). `dna`: the window's normalized sequence.
    EditedWindow(std::span<const ModelFolder> models, Strands strands, const std::string& dna);

    /// Scores of the unchanged window, (window_bins, labels).
    at::Tensor reference() const;
    /// (substitutions, bins, labels): scores with each substitution applied separately, at its chosen bins,
    /// (substitutions, bins) int64. A row does not depend on the others.
    at::Tensor substituted(std::span<const bins::Substitution> each, const at::Tensor& bins) const;
    /// (window_bins, labels): scores of the window with other edits. `dna`: its edited sequence, of the same
    /// length.
    at::Tensor edited(std::string_view dna) const;

private:
    struct Reading {
        const ModelFolder* model;
        bool reverse;
        std::unique_ptr<EditedBins> bins;
    };
    /// The mean over all readings of the results of `logits`: (…, labels).
    template <typename Logits>
    at::Tensor mean_of(const Logits& logits) const;

    bins::Grid grid_;
    std::vector<Reading> readings_;
};

/// Throws ConfigError if a model is not a bin model, or if labels or grids of the models differ.
void require_one_grid(std::span<const ModelFolder> models);

/// The scale on which effects are additive: log odds, ln(p / (1 - p)), for probabilities, ln for coverage and
/// counts, no change for other numbers.
double additive(double value, LinkFunction link);
/// What a difference of additive() is: "log_odds", "log_ratio" or "difference".
std::string_view additive_effect(LinkFunction link);

}  // namespace bigbird::task_models
