// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/bases/weighted_ranking.hpp"

#include <algorithm>
#include <functional>

namespace bigbird::evaluation {

RankingFigures weighted_ranking(std::span<WeightedRow> rows) {
    std::ranges::sort(rows, std::greater(), &WeightedRow::score);
    double ones = 0, zeros = 0, pairs = 0, precision = 0;
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        double more_ones = 0, more_zeros = 0;  // of equal scores
        for (end = begin; end < rows.size() && rows[end].score == rows[begin].score; ++end)
            (rows[end].positive ? more_ones : more_zeros) += static_cast<double>(rows[end].times);
        pairs += more_zeros * (ones + more_ones / 2);
        ones += more_ones;
        zeros += more_zeros;
        if (ones > 0) precision += more_ones * ones / (ones + zeros);
    }
    RankingFigures figures;
    if (ones > 0 && zeros > 0) figures.auroc = pairs / (ones * zeros);
    if (ones > 0) figures.auprc = precision / ones;
    return figures;
}

}  // namespace bigbird::evaluation
