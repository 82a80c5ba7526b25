// SPDX-License-Identifier: Apache-2.0
// Regressions of probes against scikit-learn (scripts/checks/make_probe_fixtures.py).
#include "bigbird/baselines/window/logistic.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <ATen/ATen.h>

#include <vector>

using namespace bigbird;
using namespace bigbird::baselines;
using bigbird::testing::difference;
using bigbird::testing::test_data;

namespace {

/// The script's features, (48, 4), and numbers, (48).
struct ProbeRows {
    at::Tensor row = at::arange(48, at::kDouble), column = at::arange(4, at::kDouble);
    at::Tensor features =
        (column + 1) * at::sin(at::outer(0.7 * row, column + 1) + (column * column).unsqueeze(0));
    at::Tensor number = features.select(1, 0) + 0.5 * features.select(1, 1) + at::cos(5 * row);
    at::Tensor scaled = (features - features.mean(0)) / features.std(0, /*unbiased=*/false);
    at::Tensor classes = (number >= -0.8).to(at::kLong) + (number >= 0.8).to(at::kLong);
};

const Json& probe_fixture() {
    static const Json all = read_json(test_data("baselines/probes.json"));
    return all;
}

void check_fit(const LinearScores& found, const std::string& name) {
    DOCTEST_CAPTURE(name);
    const Json& wanted = probe_fixture().at(name);
    const auto weights = wanted.at("weight").get<std::vector<std::vector<double>>>();
    std::vector<double> flat;
    for (const std::vector<double>& row : weights)
        flat.insert(flat.end(), row.begin(), row.end());
    constexpr double tolerance = 1e-4;
    DOCTEST_CHECK(difference(found.weight.flatten(), at::tensor(flat, at::kDouble)) < tolerance);
    DOCTEST_CHECK(difference(found.bias, at::tensor(wanted.at("bias").get<std::vector<double>>(),
                                                    at::kDouble)) < tolerance);
}

}  // namespace

DOCTEST_TEST_CASE("logistic: weights are scikit-learn's, of two classes and of several") {
    const ProbeRows rows;
    check_fit(fit_logistic(rows.features, rows.number.gt(0).to(at::kDouble).unsqueeze(1), 1, 1), "two");
    const LinearScores three = fit_logistic(rows.features, rows.classes, 3, 1);
    check_fit(three, "three");
    const double cost = probe_fixture().at("three, standardized").at("cost").get<double>();
    check_fit(fit_logistic(rows.scaled, rows.classes, 3, cost), "three, standardized");
    check_fit(fit_logistic(rows.scaled, rows.classes, 3, cost, &three), "three, standardized");
}

DOCTEST_TEST_CASE("ridge: weights are scikit-learn's") {
    const ProbeRows rows;
    Ridge ridge(4, 2);
    const at::Tensor targets = at::stack({rows.number, rows.number.square()}, 1);
    ridge.add(rows.scaled.narrow(0, 0, 20), targets.narrow(0, 0, 20));
    ridge.add(rows.scaled.narrow(0, 20, 28), targets.narrow(0, 20, 28));
    check_fit(ridge.solve(probe_fixture().at("ridge, standardized").at("penalty").get<double>()),
              "ridge, standardized");
}
