// SPDX-License-Identifier: Apache-2.0
// Rows out of windows of bins. Windows lie on a grid of contig coordinates (bins/grid.hpp); a row gets the
// mean of the bins that it overlaps, weighted by the bases that they share, so what it gets follows from the
// reference and the row only; rows that lie side by side share a window's pass.
#pragma once

#include "bigbird/bins/grid.hpp"
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

/// Exactly where.size() letters of normalised sequence, N beyond a contig's ends. Thread-safe.
using SequenceOf = std::function<std::string(const genome::Interval& where)>;
/// That of a record, which is a contig of its own.
SequenceOf sequence_of_record(std::string dna);

/// A row on the reference; one that is not wanted gets nothing.
struct GridRow {
    genome::Interval where;
    bool wanted = false;
};

/// Whether two rows begin in the core of one window.
bool begin_in_one_window(const bins::Grid& grid, const genome::Interval& a, const genome::Interval& b);

/// How many windows hold bins of `where` but none of `before` (may be null), which lies in front of it.
std::int64_t count_new_windows(const bins::Grid& grid, const genome::Interval* before,
                               const genome::Interval& where);

/// How many windows of a network go together: on a CPU one, so that its scores do not depend on the windows
/// beside it by one bit.
std::size_t windows_at_once(const BinNetwork& network, std::int64_t batch_tokens);

/// Reads windows of one model, and keeps the last ones for rows that come.
class GridRows {
public:
    /// What a model says of windows: (windows, window_bins, width) float32, on the CPU.
    using Values = std::function<at::Tensor(std::span<const std::string> windows)>;

    /// `at_once` windows go to `values` together. `sequence_of` must outlive this.
    GridRows(const bins::Grid& grid, const SequenceOf& sequence_of, std::size_t at_once, Values values);

    /// Adds to row i of `sums` (rows, width) the values of rows[i]. `after_window` (may be empty) is told the
    /// part, 0 to 1, that is done. One thread at a time.
    void add(std::span<const GridRow> rows, std::int64_t width, std::span<double> sums,
             const std::function<void(double)>& after_window);

private:
    /// A window of a contig's grid.
    struct Place {
        std::string contig;
        std::int64_t number = 0;
        auto operator<=>(const Place&) const = default;
    };
    /// What a row takes of a window.
    struct Share {
        std::size_t row = 0;
        std::int64_t bin = 0;  ///< from the window's first
        double weight = 0;
    };
    using Plan = std::vector<std::pair<Place, std::vector<Share>>>;  // ascending

    Plan plan_of(std::span<const GridRow> rows) const;
    const at::Tensor* find(const Place& place) const;
    /// The values of the windows of the plan from `first` on, as many as go together.
    std::vector<at::Tensor> read(const Plan& plan, std::size_t first);

    bins::Grid grid_;
    const SequenceOf& sequence_of_;
    std::size_t at_once_;
    Values values_;
    std::deque<std::pair<Place, at::Tensor>> kept_;
};

}  // namespace bigbird::task_models
