// SPDX-License-Identifier: Apache-2.0
// Scores in descending order, sorted once and then weighted as needed. The areas under curves, and their
// resampled values, are computed from this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::evaluation {

/// Undefined without a positive (both) or without a negative (the ROC's).
struct Areas {
    std::optional<double> roc_auc, average_precision;
};

/// Immutable once made; const calls are thread-safe.
class Ranking {
public:
    /// Labels are 0 or 1, scores not NaN. `units` has each row's resampling unit, a small number; without
    /// them each row is its own unit. O(n log n).
    Ranking(std::span<const float> scores, std::span<const std::uint8_t> labels,
            std::span<const std::uint32_t> units = {});

    Areas areas() const;
    /// The areas if the rows of unit u count weights[u] times. O(n).
    Areas areas(std::span<const std::uint32_t> weights) const;

private:
    template <typename Weight>
    Areas weighted(const Weight& weight) const;

    std::vector<std::uint32_t> units_;  ///< the rows' units, by descending score
    std::vector<std::uint8_t> labels_;  ///< in that order
    std::vector<std::uint32_t>
        ties_;  ///< ends of the runs of equal scores, in that order; runs without a positive are joined
};

}  // namespace bigbird::evaluation
