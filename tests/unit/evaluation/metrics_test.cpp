// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/metrics.hpp"

#include "support/confusion.hpp"
#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::evaluation;

namespace {

void check_equal(const std::optional<double>& found, const Json& expected) {
    DOCTEST_REQUIRE(found.has_value() == !expected.is_null());
    if (found) DOCTEST_CHECK(*found == doctest::Approx(expected.get<double>()).epsilon(1e-12));
}

}  // namespace

DOCTEST_TEST_CASE("metrics: equal to scikit-learn's, undefined where it has none") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    DOCTEST_REQUIRE(fixture["cases"].size() >= 9);
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        const auto scores = one["scores"].get<std::vector<float>>();
        const auto labels = one["labels"].get<std::vector<std::uint8_t>>();
        check_equal(roc_auc(scores, labels), one["roc_auc"]);
        check_equal(average_precision(scores, labels), one["average_precision"]);
        const Confusion counts = testing::confusion(scores, labels, one["threshold"]);
        check_equal(counts.accuracy(), one["accuracy"]);
        check_equal(counts.precision(), one["precision"]);
        check_equal(counts.recall(), one["recall"]);
        check_equal(counts.f1(), one["f1"]);
        check_equal(counts.mcc(), one["mcc"]);
    }
}

DOCTEST_TEST_CASE("metrics: a summary says how many values are defined") {
    const std::vector<std::optional<double>> values{0.9, std::nullopt, 0.5, 0.6, 0.8};
    const Summary summary = summarise(values);
    DOCTEST_CHECK(summary.total == 5);
    DOCTEST_CHECK(summary.defined == 4);
    DOCTEST_CHECK(*summary.mean == doctest::Approx(0.7));
    DOCTEST_CHECK(*summary.median == doctest::Approx(0.7));
    const Summary none = summarise(std::vector<std::optional<double>>{std::nullopt});
    DOCTEST_CHECK(none.defined == 0);
    DOCTEST_CHECK(!none.mean);
    DOCTEST_CHECK(!none.median);
}
