// SPDX-License-Identifier: Apache-2.0
// AUROC and average precision of rows with repeat counts. The result equals that of metrics.hpp for the
// repeated rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::evaluation {

/// A row that occurs `times` times.
struct WeightedRow {
    float score = 0;  ///< not NaN
    bool positive = false;
    std::int64_t times = 0;
    std::uint32_t block = 0;  ///< block of genome, the unit of resampling
};

struct RankingFigures {
    std::optional<double> auroc;  ///< undefined without a positive or without a negative
    std::optional<double> auprc;  ///< undefined without a positive
};

/// Immutable once made; figures() is thread-safe.
class WeightedRanking {
public:
    /// Sorts the rows. O(n log n).
    explicit WeightedRanking(std::vector<WeightedRow> rows);
    RankingFigures figures() const;
    /// The figures if the rows of block b count weights[b] times. O(n).
    RankingFigures figures(std::span<const std::uint32_t> weights) const;

private:
    template <typename Times>
    RankingFigures weighted(const Times& times) const;

    std::vector<WeightedRow> rows_;  ///< by descending score
};

}  // namespace bigbird::evaluation
