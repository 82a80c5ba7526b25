// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/bases/weighted_ranking.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/evaluation/metrics.hpp"

#include <vector>

using namespace bigbird;
using namespace bigbird::evaluation;

DOCTEST_TEST_CASE("weighted_ranking: the figures of the rows repeated, ties and all") {
    Rng rng(4);
    for (int round = 0; round < 50; ++round) {
        std::vector<WeightedRow> rows;
        std::vector<float> scores;
        std::vector<std::uint8_t> labels;
        for (int i = 0; i < 30; ++i) {
            const WeightedRow row{static_cast<float>(rng.between(0, 9)) / 10, rng.between(0, 2) == 0,
                                  rng.between(0, 5)};
            rows.push_back(row);
            scores.insert(scores.end(), static_cast<std::size_t>(row.times), row.score);
            labels.insert(labels.end(), static_cast<std::size_t>(row.times), row.positive ? 1 : 0);
        }
        const RankingFigures figures = weighted_ranking(rows);
        DOCTEST_REQUIRE(figures.auroc.has_value());
        DOCTEST_CHECK(*figures.auroc == doctest::Approx(*roc_auc(scores, labels)));
        DOCTEST_CHECK(*figures.auprc == doctest::Approx(*average_precision(scores, labels)));
    }
}

DOCTEST_TEST_CASE("weighted_ranking: what is undefined is not made up") {
    std::vector<WeightedRow> zeros{{0.5F, false, 3}}, ones{{0.5F, true, 3}};
    DOCTEST_CHECK(!weighted_ranking(zeros).auroc);
    DOCTEST_CHECK(!weighted_ranking(zeros).auprc);
    DOCTEST_CHECK(!weighted_ranking(ones).auroc);
    DOCTEST_CHECK(weighted_ranking(ones).auprc == 1.0);
    DOCTEST_CHECK(!weighted_ranking({}).auprc);
}
