// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/ranking.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <vector>

using namespace bigbird;
using namespace bigbird::evaluation;

DOCTEST_TEST_CASE("ranking: weighted areas equal scikit-learn's with sample_weight") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    int checked = 0;
    for (const Json& one : fixture["cases"]) {
        if (one.contains("weights")) {
            const Ranking ranking(one["scores"].get<std::vector<float>>(),
                                  one["labels"].get<std::vector<std::uint8_t>>());
            const Areas areas = ranking.areas(one["weights"].get<std::vector<std::uint32_t>>());
            DOCTEST_CHECK(*areas.roc_auc ==
                          doctest::Approx(one["weighted_roc_auc"].get<double>()).epsilon(1e-12));
            DOCTEST_CHECK(*areas.average_precision ==
                          doctest::Approx(one["weighted_average_precision"].get<double>()).epsilon(1e-12));
            ++checked;
        }
    }
    DOCTEST_CHECK(checked == 1);
}

DOCTEST_TEST_CASE("ranking: weights count rows as often as if they stood there") {
    Rng rng(7);
    std::vector<float> scores, repeated_scores;
    std::vector<std::uint8_t> labels, repeated_labels;
    std::vector<std::uint32_t> weights;
    for (int i = 0; i < 200; ++i) {
        scores.push_back(static_cast<float>(rng.between(0, 20)) / 20.0F);
        labels.push_back(static_cast<std::uint8_t>(rng.between(0, 1)));
        weights.push_back(static_cast<std::uint32_t>(rng.between(0, 3)));
        repeated_scores.insert(repeated_scores.end(), weights.back(), scores.back());
        repeated_labels.insert(repeated_labels.end(), weights.back(), labels.back());
    }
    const Areas weighted = Ranking(scores, labels).areas(weights);
    const Areas repeated = Ranking(repeated_scores, repeated_labels).areas();
    DOCTEST_CHECK(*weighted.roc_auc == doctest::Approx(*repeated.roc_auc).epsilon(1e-14));
    DOCTEST_CHECK(*weighted.average_precision == doctest::Approx(*repeated.average_precision).epsilon(1e-14));
}

DOCTEST_TEST_CASE("ranking: no rows, and rows that all weigh nothing, have no areas") {
    DOCTEST_CHECK(!Ranking({}, {}).areas().roc_auc);
    const std::vector<float> scores{0.1F, 0.2F};
    const std::vector<std::uint8_t> labels{0, 1};
    const std::vector<std::uint32_t> nothing{0, 0}, one_class{0, 5};
    const Ranking ranking(scores, labels);
    DOCTEST_CHECK(!ranking.areas(nothing).average_precision);
    DOCTEST_CHECK(!ranking.areas(one_class).roc_auc);
    DOCTEST_CHECK(*ranking.areas(one_class).average_precision == 1.0);
}
