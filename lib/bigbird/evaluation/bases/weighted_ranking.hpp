// SPDX-License-Identifier: Apache-2.0
// AUROC and average precision of rows that each stand for many: what metrics.hpp gives for the rows repeated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace bigbird::evaluation {

/// `times` of a row that is positive or not.
struct WeightedRow {
    float score = 0;  ///< not NaN
    bool positive = false;
    std::int64_t times = 0;
};

struct RankingFigures {
    std::optional<double> auroc;  ///< undefined without a positive or without a negative
    std::optional<double> auprc;  ///< undefined without a positive
};

/// Sorts the rows. O(n log n).
RankingFigures weighted_ranking(std::span<WeightedRow> rows);

}  // namespace bigbird::evaluation
