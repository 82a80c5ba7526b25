// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/calibration.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace bigbird;
using namespace bigbird::evaluation;

namespace {

struct Rows {
    std::vector<float> logits;
    std::vector<std::uint8_t> truth;
    std::size_t labels = 0;
};

Rows rows_of(const Json& json) {
    Rows rows;
    for (const Json& label : json["logits"])
        for (const Json& value : label)
            rows.logits.push_back(value.get<float>());
    for (const Json& label : json["labels"])
        for (const Json& value : label)
            rows.truth.push_back(value.get<std::uint8_t>());
    rows.labels = json["logits"].size();
    return rows;
}

void check_fit(const std::optional<CalibrationFit>& fit, const Json& expected) {
    DOCTEST_REQUIRE(fit.has_value());
    const auto close = [](double found, const Json& one, double share) {
        DOCTEST_CHECK(found == doctest::Approx(one.get<double>()).epsilon(share));
    };
    close(fit->calibration.temperature, expected["temperature"], 1e-5);
    DOCTEST_REQUIRE(fit->calibration.biases.size() == expected["biases"].size());
    for (std::size_t label = 0; label < expected["biases"].size(); ++label)
        DOCTEST_CHECK(std::abs(fit->calibration.biases[label] - expected["biases"][label].get<double>()) <
                      1e-5);
    close(fit->loss_before, expected["loss_before"], 1e-9);
    close(fit->loss_after, expected["loss_after"], 1e-9);
}

double probability(double logit, const Calibration& calibration, std::size_t label) {
    return 1 / (1 + std::exp(-(logit / calibration.temperature + calibration.biases[label])));
}

}  // namespace

DOCTEST_TEST_CASE("calibration: without a pull it is scikit-learn's logistic regression on the logit") {
    const Json fixture = read_json(testing::test_data("metrics/calibration.json"));
    int cases = 0;
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        const Rows rows = rows_of(one);
        const auto fit = fit_calibration(rows.logits, rows.truth, rows.labels, 2, 0);
        check_fit(fit, one);
        DOCTEST_CHECK(fit_calibration(rows.logits, rows.truth, rows.labels, 1, 0)->calibration ==
                      fit->calibration);
        ++cases;
    }
    DOCTEST_CHECK(cases == 3);
}

DOCTEST_TEST_CASE("calibration: of a label's rows as many are expected as there are") {
    const Json fixture = read_json(testing::test_data("metrics/calibration.json"));
    const Rows rows = rows_of(fixture["cases"][0]);
    const auto fit = fit_calibration(rows.logits, rows.truth, rows.labels, 1);
    DOCTEST_REQUIRE(fit.has_value());
    const std::size_t count = rows.logits.size() / rows.labels;
    for (std::size_t label = 0; label < rows.labels; ++label) {
        double expected = 0, found = 0;
        for (std::size_t i = label * count; i < (label + 1) * count; ++i) {
            expected += probability(static_cast<double>(rows.logits[i]), fit->calibration, label);
            found += rows.truth[i];
        }
        // What the pull adds to the gradient is all that is between them.
        DOCTEST_CHECK(expected ==
                      doctest::Approx(found - 0.1 * fit->calibration.biases[label]).epsilon(1e-6));
    }
}

DOCTEST_TEST_CASE("calibration: labels without positives, apart or upside down have finite values") {
    std::vector<float> logits;
    std::vector<std::uint8_t> none, apart, upside_down;
    for (int i = 0; i < 200; ++i) {
        logits.push_back(static_cast<float>(i - 100) / 10);
        none.push_back(0);
        apart.push_back(i >= 100 ? 1 : 0);
        upside_down.push_back(i < 100 ? 1 : 0);
    }
    const auto never = fit_calibration(logits, none, 1, 1);
    DOCTEST_REQUIRE(never.has_value());
    DOCTEST_CHECK(never->calibration.biases[0] < -2);
    DOCTEST_CHECK(never->calibration.biases[0] > -200);
    const auto certain = fit_calibration(logits, apart, 1, 1);
    DOCTEST_REQUIRE(certain.has_value());
    DOCTEST_CHECK(certain->calibration.temperature > 0.01);
    DOCTEST_CHECK(certain->calibration.temperature < 1);
    DOCTEST_CHECK(certain->loss_after < certain->loss_before);
    const auto wrong = fit_calibration(logits, upside_down, 1, 1);
    DOCTEST_REQUIRE(wrong.has_value());
    DOCTEST_CHECK(wrong->calibration.temperature == doctest::Approx(1000));
    DOCTEST_CHECK(wrong->loss_after == doctest::Approx(std::log(2.0)).epsilon(0.01));
}

namespace {

struct ClassRows {
    std::vector<float> logits = {};
    std::vector<std::int32_t> truth = {};
    std::size_t labels = 0;
};

ClassRows class_rows_of(const Json& json) {
    ClassRows rows;
    for (const Json& row : json["logits"])
        for (const Json& value : row)
            rows.logits.push_back(value.get<float>());
    rows.truth = json["truth"].get<std::vector<std::int32_t>>();
    rows.labels = json["biases"].size();
    return rows;
}

std::vector<double> probabilities(const ClassRows& rows, std::size_t row, const Calibration& calibration) {
    std::vector<double> all;
    double sum = 0;
    for (std::size_t i = 0; i < rows.labels; ++i) {
        const auto logit = static_cast<double>(rows.logits[row * rows.labels + i]);
        all.push_back(std::exp(logit / calibration.temperature + calibration.biases[i]));
        sum += all.back();
    }
    for (double& probability : all)
        probability /= sum;
    return all;
}

/// Label 1 where the first logit is below the second, a fifth of them wrong; nothing is label 2.
ClassRows many_rows(std::size_t count) {
    ClassRows rows{.labels = 3};
    Rng rng(4);
    for (std::size_t i = 0; i < count; ++i) {
        const auto logit = static_cast<float>(rng.between(-300, 300)) / 100;
        rows.logits.insert(rows.logits.end(), {0, logit, 1});
        rows.truth.push_back((logit > 0) == (rng.between(0, 4) > 0) ? 1 : 0);
    }
    return rows;
}

}  // namespace

DOCTEST_TEST_CASE("softmax_calibration: without a pull it is where scipy finds the least log loss") {
    const Json fixture = read_json(testing::test_data("metrics/softmax_calibration.json"));
    int cases = 0;
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        const ClassRows rows = class_rows_of(one);
        const auto fit = fit_softmax_calibration(rows.logits, rows.truth, rows.labels, 2, 0);
        check_fit(fit, one);
        ++cases;
    }
    DOCTEST_CHECK(cases == 3);
}

DOCTEST_TEST_CASE("softmax_calibration: of a label as many rows are expected as there are") {
    const Json fixture = read_json(testing::test_data("metrics/softmax_calibration.json"));
    const ClassRows rows = class_rows_of(fixture["cases"][1]);
    const auto fit = fit_softmax_calibration(rows.logits, rows.truth, rows.labels, 1);
    DOCTEST_REQUIRE(fit.has_value());
    std::vector<double> surplus(rows.labels);
    for (std::size_t row = 0; row < rows.truth.size(); ++row) {
        const std::vector<double> expected = probabilities(rows, row, fit->calibration);
        for (std::size_t label = 0; label < rows.labels; ++label)
            surplus[label] += expected[label];
        --surplus[static_cast<std::size_t>(rows.truth[row])];
    }
    // What the pull adds to the gradient is all that is between them.
    for (std::size_t label = 0; label < rows.labels; ++label)
        DOCTEST_CHECK(std::abs(surplus[label] + 0.1 * fit->calibration.biases[label]) < 1e-4);
}

DOCTEST_TEST_CASE("softmax_calibration: threads change no bit, a label of no row has a finite bias") {
    const ClassRows rows = many_rows(100'000);
    const auto one = fit_softmax_calibration(rows.logits, rows.truth, rows.labels, 1);
    const auto three = fit_softmax_calibration(rows.logits, rows.truth, rows.labels, 3);
    DOCTEST_REQUIRE(one.has_value());
    DOCTEST_REQUIRE(three.has_value());
    DOCTEST_CHECK(one->calibration == three->calibration);
    DOCTEST_CHECK(one->loss_after == three->loss_after);
    DOCTEST_CHECK(one->loss_after < one->loss_before);
    const std::vector<double>& biases = one->calibration.biases;
    DOCTEST_CHECK(biases[2] < -5);
    DOCTEST_CHECK(biases[2] > -100);
    DOCTEST_CHECK(std::abs(std::accumulate(biases.begin(), biases.end(), 0.0)) < 1e-6);
}

DOCTEST_TEST_CASE("softmax_calibration: logits that are upside down are left out of account") {
    ClassRows rows{.labels = 2};
    for (int i = 0; i < 200; ++i) {
        rows.logits.insert(rows.logits.end(), {0, static_cast<float>(i - 100) / 10});
        rows.truth.push_back(i < 100 ? 1 : 0);
    }
    const auto wrong = fit_softmax_calibration(rows.logits, rows.truth, 2, 1);
    DOCTEST_REQUIRE(wrong.has_value());
    DOCTEST_CHECK(wrong->calibration.temperature == doctest::Approx(1000));
    DOCTEST_CHECK(wrong->loss_after == doctest::Approx(std::log(2.0)).epsilon(0.01));
    for (std::int32_t& label : rows.truth)
        label = 1 - label;
    const auto apart = fit_softmax_calibration(rows.logits, rows.truth, 2, 1);
    DOCTEST_REQUIRE(apart.has_value());
    DOCTEST_CHECK(apart->calibration.temperature > 0.01);
    DOCTEST_CHECK(apart->calibration.temperature < 1);
}

DOCTEST_TEST_CASE("calibration: nothing without rows or with a logit that is no number") {
    const std::vector<float> logits{0.5F, std::numeric_limits<float>::quiet_NaN()};
    DOCTEST_CHECK_FALSE(fit_calibration({}, {}, 3, 1).has_value());
    DOCTEST_CHECK_FALSE(fit_calibration(logits, std::vector<std::uint8_t>{0, 1}, 1, 1).has_value());
    DOCTEST_CHECK_FALSE(fit_softmax_calibration({}, {}, 3, 1).has_value());
    DOCTEST_CHECK_FALSE(fit_softmax_calibration(logits, std::vector<std::int32_t>{0}, 2, 1).has_value());
}
