// SPDX-License-Identifier: Apache-2.0
// Computes the scores of rows from windows of bins. Windows are on a grid of contig coordinates
// (bins/config.hpp). A row gets the mean of the bins that it overlaps, weighted by the number of overlapping
// bases. It therefore depends only on the reference and the row. Adjacent rows share a window's forward pass.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/task_models/network/task_network.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
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

}  // namespace bigbird::task_models
