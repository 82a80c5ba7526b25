// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/calibration.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"

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
        DOCTEST_REQUIRE(fit.has_value());
        const auto biases = one["biases"].get<std::vector<double>>();
        DOCTEST_CHECK(fit->calibration.temperature ==
                      doctest::Approx(one["temperature"].get<double>()).epsilon(1e-5));
        DOCTEST_REQUIRE(fit->calibration.biases.size() == biases.size());
        for (std::size_t label = 0; label < biases.size(); ++label)
            DOCTEST_CHECK(fit->calibration.biases[label] == doctest::Approx(biases[label]).epsilon(1e-5));
        DOCTEST_CHECK(fit->loss_before == doctest::Approx(one["loss_before"].get<double>()).epsilon(1e-9));
        DOCTEST_CHECK(fit->loss_after == doctest::Approx(one["loss_after"].get<double>()).epsilon(1e-9));
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

DOCTEST_TEST_CASE("calibration: nothing without rows or with a logit that is no number") {
    DOCTEST_CHECK_FALSE(fit_calibration({}, {}, 3, 1).has_value());
    const std::vector<float> logits{0.5F, std::numeric_limits<float>::quiet_NaN()};
    DOCTEST_CHECK_FALSE(fit_calibration(logits, std::vector<std::uint8_t>{0, 1}, 1, 1).has_value());
}
