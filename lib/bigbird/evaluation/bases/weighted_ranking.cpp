// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/bases/weighted_ranking.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace bigbird::evaluation {

WeightedRanking::WeightedRanking(std::vector<WeightedRow> rows) : rows_(std::move(rows)) {
    std::ranges::sort(rows_, std::greater(), &WeightedRow::score);
}

template <typename Times>
RankingFigures WeightedRanking::weighted(const Times& times) const {
    double ones = 0, zeros = 0, pairs = 0, precision = 0;
    for (std::size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
        double more_ones = 0, more_zeros = 0;  // sums over equal scores
        for (end = begin; end < rows_.size() && rows_[end].score == rows_[begin].score; ++end)
            (rows_[end].positive ? more_ones : more_zeros) += times(rows_[end]);
        pairs += more_zeros * (ones + more_ones / 2);
        ones += more_ones;
        zeros += more_zeros;
        if (more_ones > 0) precision += more_ones * ones / (ones + zeros);
    }
    RankingFigures figures;
    if (ones > 0 && zeros > 0) figures.auroc = pairs / (ones * zeros);
    if (ones > 0) figures.auprc = precision / ones;
    return figures;
}

RankingFigures WeightedRanking::figures() const {
    return weighted([](const WeightedRow& row) { return static_cast<double>(row.times); });
}

RankingFigures WeightedRanking::figures(std::span<const std::uint32_t> weights) const {
    return weighted([weights](const WeightedRow& row) {
        return static_cast<double>(row.times) * static_cast<double>(weights[row.block]);
    });
}

}  // namespace bigbird::evaluation
