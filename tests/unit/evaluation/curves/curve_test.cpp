// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/curve.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/metrics.hpp"

using namespace bigbird;
using namespace bigbird::evaluation;

DOCTEST_TEST_CASE("curve: the area under its points is scikit-learn's AUROC") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    for (const Json& one : fixture["cases"]) {
        const auto scores = one["scores"].get<std::vector<float>>();
        const auto labels = one["labels"].get<std::vector<std::uint8_t>>();
        const auto points = curve_of(scores, labels, scores.size());
        DOCTEST_REQUIRE(points.empty() == one["roc_auc"].is_null());
        double area = 0, precision = 0, x = 0, y = 0;
        for (const CurvePoint& point : points) {
            area += (point.false_positive_rate - x) * (point.recall + y) / 2;
            precision += (point.recall - y) * point.precision;
            x = point.false_positive_rate;
            y = point.recall;
        }
        if (points.empty()) continue;
        DOCTEST_CHECK(area == doctest::Approx(one["roc_auc"].get<double>()).epsilon(1e-9));
        DOCTEST_CHECK(precision == doctest::Approx(one["average_precision"].get<double>()).epsilon(1e-9));
    }
}

DOCTEST_TEST_CASE("curve: many points are thinned, the last one stays") {
    std::vector<float> scores;
    std::vector<std::uint8_t> labels;
    for (int i = 0; i < 1000; ++i) {
        scores.push_back(static_cast<float>(i));
        labels.push_back(i % 3 == 0 ? 1 : 0);
    }
    const auto points = curve_of(scores, labels, 100);
    DOCTEST_REQUIRE(points.size() == 100);
    DOCTEST_CHECK(points.back().recall == 1);
    DOCTEST_CHECK(points.back().false_positive_rate == 1);
    DOCTEST_CHECK(points.back().threshold == 0);
}
