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
                                  rng.between(0, 5), static_cast<std::uint32_t>(i % 3)};
            rows.push_back(row);
            scores.insert(scores.end(), static_cast<std::size_t>(row.times), row.score);
            labels.insert(labels.end(), static_cast<std::size_t>(row.times), row.positive ? 1 : 0);
        }
        const WeightedRanking ranking(rows);
        const RankingFigures figures = ranking.figures();
        DOCTEST_REQUIRE(figures.auroc.has_value());
        DOCTEST_CHECK(*figures.auroc == doctest::Approx(*roc_auc(scores, labels)));
        DOCTEST_CHECK(*figures.auprc == doctest::Approx(*average_precision(scores, labels)));
        // Blocks drawn twice, never and once are rows of twice, no and the same weight.
        const std::vector<std::uint32_t> weights{2, 0, 1};
        for (WeightedRow& row : rows)
            row.times *= weights[row.block];
        DOCTEST_CHECK(ranking.figures(weights).auprc == WeightedRanking(rows).figures().auprc);
        DOCTEST_CHECK(ranking.figures(weights).auroc == WeightedRanking(rows).figures().auroc);
    }
}

DOCTEST_TEST_CASE("weighted_ranking: what is undefined is not made up") {
    const WeightedRanking zeros({{0.5F, false, 3}}), ones({{0.5F, true, 3}}), none({});
    DOCTEST_CHECK(!zeros.figures().auroc);
    DOCTEST_CHECK(!zeros.figures().auprc);
    DOCTEST_CHECK(!ones.figures().auroc);
    DOCTEST_CHECK(ones.figures().auprc == 1.0);
    DOCTEST_CHECK(!none.figures().auprc);
    const std::vector<std::uint32_t> never{0};
    DOCTEST_CHECK(!ones.figures(never).auprc);
}
