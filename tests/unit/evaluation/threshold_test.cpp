// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/threshold.hpp"

#include "support/confusion.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/metrics.hpp"

#include <set>

using namespace bigbird;
using namespace bigbird::evaluation;
using Kind = ThresholdRule::Kind;

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
