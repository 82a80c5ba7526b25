// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/metrics.hpp"

#include "support/confusion.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <set>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::evaluation;
using Kind = ThresholdRule::Kind;

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

DOCTEST_TEST_CASE("threshold: the best of all thresholds, tried one by one") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    for (const Json& one : fixture["cases"]) {
        const auto scores = one["scores"].get<std::vector<float>>();
        const auto labels = one["labels"].get<std::vector<std::uint8_t>>();
        for (const Kind kind : {Kind::best_f1, Kind::best_mcc}) {
            std::optional<double> best;
            double at = 0;
            for (const float score : std::set<float>(scores.begin(), scores.end())) {
                const Confusion counts = testing::confusion(scores, labels, static_cast<double>(score));
                const auto figure = kind == Kind::best_f1 ? counts.f1() : counts.mcc();
                if (figure && (!best || *figure >= *best)) {
                    best = figure;
                    at = static_cast<double>(score);
                }
            }
            const auto chosen = best_threshold(scores, labels, kind);
            DOCTEST_REQUIRE(chosen.has_value() == best.has_value());
            if (best) {
                DOCTEST_CHECK(chosen->figure == doctest::Approx(*best).epsilon(1e-12));
                DOCTEST_CHECK(chosen->threshold == at);
            }
        }
    }
}

DOCTEST_TEST_CASE("threshold: rules") {
    DOCTEST_CHECK(parse_threshold_rule("0.25").value == 0.25);
    DOCTEST_CHECK(parse_threshold_rule("auto").kind == Kind::automatic);
    DOCTEST_CHECK(parse_threshold_rule("f1").kind == Kind::best_f1);
    DOCTEST_CHECK(parse_threshold_rule("mcc").kind == Kind::best_mcc);
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { parse_threshold_rule("best"); }) ==
                  "--threshold is a score, auto, f1 or mcc, not 'best'");
    DOCTEST_CHECK_FALSE(best_threshold({}, {}, Kind::best_f1).has_value());
}

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
