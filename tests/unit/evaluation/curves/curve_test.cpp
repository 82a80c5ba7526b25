// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/curve.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/measures.hpp"

#include <limits>
#include <string>

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

DOCTEST_TEST_CASE("reliability: bins are scikit-learn's, the error that of its definition") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    int curves = 0;
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        const Json& wanted = one["reliability"];
        ReliabilityCounter counter;
        counter.add(one["scores"].get<std::vector<float>>(), one["labels"].get<std::vector<std::uint8_t>>());
        const auto found = counter.reliability();
        DOCTEST_REQUIRE(found.has_value());
        DOCTEST_CHECK(found->brier == doctest::Approx(wanted["brier"].get<double>()).epsilon(1e-12));
        DOCTEST_CHECK(found->calibration_error ==
                      doctest::Approx(wanted["calibration_error"].get<double>()).epsilon(1e-12));
        if (wanted["mean_score"].is_null()) continue;  // scikit-learn has no curve for one class
        ++curves;
        DOCTEST_REQUIRE(found->bins.size() == wanted["mean_score"].size());
        for (std::size_t i = 0; i < found->bins.size(); ++i) {
            DOCTEST_CHECK(found->bins[i].mean_score ==
                          doctest::Approx(wanted["mean_score"][i].get<double>()).epsilon(1e-12));
            DOCTEST_CHECK(found->bins[i].positive_share ==
                          doctest::Approx(wanted["positive_share"][i].get<double>()).epsilon(1e-12));
        }
    }
    DOCTEST_CHECK(curves == 6);
}

DOCTEST_TEST_CASE("reliability: the bin that is farthest off is said, if that is no chance") {
    const auto of = [](std::vector<ReliabilityBin> bins) { return unreliable({.bins = std::move(bins)}); };
    const ReliabilityBin good{1000, 0.02, 0.03};
    DOCTEST_CHECK_FALSE(of({good, {40, 0.44, 0.30}}).has_value());     // three errors are 0.24
    DOCTEST_CHECK_FALSE(of({good, {10000, 0.44, 0.36}}).has_value());  // surely off, but not far
    DOCTEST_CHECK_FALSE(of({good, {8, 0.44, 0}}).has_value());
    DOCTEST_CHECK(*of({good, {63, 0.44, 0}, {50, 0.9, 0.6}}) ==
                  "scores are no probabilities here, only good to rank by: of 63 rows with a mean score of "
                  "0.44, none is positive");
    DOCTEST_CHECK(of({good, {63, 0.44, 0.25}, {50, 0.9, 0.6}})->ends_with("of 0.90, 60.0 % are positive"));
}

DOCTEST_TEST_CASE("reliability: labels add up, scores that are no probabilities have none") {
    const std::vector<float> scores{0.05F, 0.05F, 0.95F, 0.95F};
    ReliabilityCounter counter;
    counter.add(scores, std::vector<std::uint8_t>{0, 0, 1, 1});
    counter.add(scores, std::vector<std::uint8_t>{0, 0, 0, 0});
    const auto both = counter.reliability();
    DOCTEST_REQUIRE(both.has_value());
    DOCTEST_REQUIRE(both->bins.size() == 2);
    DOCTEST_CHECK(both->bins[1].rows == 4);
    DOCTEST_CHECK(both->bins[1].positive_share == 0.5);
    DOCTEST_CHECK(both->calibration_error == doctest::Approx(0.5 * 0.05 + 0.5 * 0.45));
    DOCTEST_CHECK(!ReliabilityCounter().reliability());
    for (const float strange : {-0.1F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
        ReliabilityCounter other;
        other.add(std::vector<float>{0.5F, strange}, std::vector<std::uint8_t>{0, 1});
        DOCTEST_CHECK(!other.reliability());
    }
}
