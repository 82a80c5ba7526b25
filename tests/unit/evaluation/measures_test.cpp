// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/measures.hpp"

#include "support/confusion.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::evaluation;
using RuleKind = ThresholdRule::Kind;

namespace {

void check_equal(const std::optional<double>& found, const Json& expected) {
    DOCTEST_REQUIRE(found.has_value() == !expected.is_null());
    if (found) DOCTEST_CHECK(*found == doctest::Approx(expected.get<double>()).epsilon(1e-12));
}

template <typename T>
std::vector<std::span<const T>> spans_of(const std::vector<std::vector<T>>& columns) {
    return {columns.begin(), columns.end()};
}

/// The columns of rows.
template <typename T>
std::vector<std::vector<T>> columns_of(const Json& rows) {
    std::vector<std::vector<T>> columns(rows[0].size());
    for (const Json& row : rows)
        for (std::size_t c = 0; c < columns.size(); ++c)
            columns[c].push_back(row[c].get<T>());
    return columns;
}

/// The figures of a case of the fixture, whose rows are units.
FigureValues figures_of(const Json& one, std::vector<std::string>& names, Weights weights) {
    const auto scores = columns_of<float>(one["scores"]);
    std::vector<std::uint32_t> units(one["scores"].size());
    std::iota(units.begin(), units.end(), 0U);
    const MeasuredRows rows{spans_of(scores), units};
    const auto of = [&](const Measure& measure) {
        names = measure.names;
        return measure.figures(weights);
    };
    if (one["target"] == "classes") {
        const Json threshold = one.value("threshold", Json());
        const auto truth = one["truth"].get<std::vector<std::uint32_t>>();
        return of(measure_classes(
            rows, truth, threshold.is_null() ? std::nullopt : std::optional(threshold.get<double>())));
    }
    if (one["target"] == "labels") {
        const auto truth = columns_of<std::uint8_t>(one["truth"]);
        return of(measure_labels(rows, spans_of(truth), 0.5));
    }
    const auto truth = columns_of<float>(one["truth"]);
    return of(measure_numbers(rows, spans_of(truth), one["target"] == "coverage"));
}

void check_equal(const std::vector<std::string>& names, const FigureValues& found, const Json& expected) {
    DOCTEST_REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string& name = names[i];
        DOCTEST_CAPTURE(name);
        DOCTEST_REQUIRE(found[i].has_value());
        const double off =
            name == "pearson_across" || name == "pearson_mean_track" ? 1e-7 : 1e-12;  // float32 means
        DOCTEST_CHECK(*found[i] == doctest::Approx(expected[name].get<double>()).epsilon(off));
    }
}

}  // namespace

DOCTEST_TEST_CASE("measures: equal to scikit-learn's, undefined where it has none") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    DOCTEST_REQUIRE(fixture["cases"].size() >= 9);
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        const auto scores = one["scores"].get<std::vector<float>>();
        const auto labels = one["labels"].get<std::vector<std::uint8_t>>();
        const Areas areas = Ranking(scores, labels).areas();
        check_equal(areas.roc_auc, one["roc_auc"]);
        check_equal(areas.average_precision, one["average_precision"]);
        const Confusion counts = testing::confusion(scores, labels, one["threshold"]);
        check_equal(counts.accuracy(), one["accuracy"]);
        check_equal(counts.precision(), one["precision"]);
        check_equal(counts.recall(), one["recall"]);
        check_equal(counts.f1(), one["f1"]);
        check_equal(counts.mcc(), one["mcc"]);
    }
}

DOCTEST_TEST_CASE("measures: a summary says how many values are defined") {
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
        for (const RuleKind kind : {RuleKind::best_f1, RuleKind::best_mcc}) {
            std::optional<double> best;
            double at = 0;
            for (const float score : std::set<float>(scores.begin(), scores.end())) {
                const Confusion counts = testing::confusion(scores, labels, static_cast<double>(score));
                const auto figure = kind == RuleKind::best_f1 ? counts.f1() : counts.mcc();
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
    DOCTEST_CHECK(parse_threshold_rule("auto").kind == RuleKind::automatic);
    DOCTEST_CHECK(parse_threshold_rule("f1").kind == RuleKind::best_f1);
    DOCTEST_CHECK(parse_threshold_rule("mcc").kind == RuleKind::best_mcc);
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { parse_threshold_rule("best"); }) ==
                  "--threshold is a score, auto, f1 or mcc, not 'best'");
    DOCTEST_CHECK_FALSE(best_threshold({}, {}, RuleKind::best_f1).has_value());
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

DOCTEST_TEST_CASE("ranking: weights and times count rows as often as if they were repeated") {
    Rng rng(7);
    std::vector<float> scores, repeated_scores;
    std::vector<std::uint8_t> labels, repeated_labels;
    std::vector<std::uint32_t> weights, units, by_unit{2, 0, 1};
    std::vector<std::int64_t> times, of_drawn;
    for (std::uint32_t i = 0; i < 200; ++i) {
        scores.push_back(static_cast<float>(rng.between(0, 20)) / 20.0F);
        labels.push_back(static_cast<std::uint8_t>(rng.between(0, 1)));
        weights.push_back(static_cast<std::uint32_t>(rng.between(0, 3)));
        times.push_back(weights.back());
        units.push_back(i % 3);
        of_drawn.push_back(times.back() * by_unit[i % 3]);
        repeated_scores.insert(repeated_scores.end(), weights.back(), scores.back());
        repeated_labels.insert(repeated_labels.end(), weights.back(), labels.back());
    }
    const Areas repeated = Ranking(repeated_scores, repeated_labels).areas();
    for (const Areas& areas :
         {Ranking(scores, labels).areas(weights), Ranking(scores, labels, {}, times).areas()}) {
        DOCTEST_CHECK(*areas.roc_auc == doctest::Approx(*repeated.roc_auc).epsilon(1e-14));
        DOCTEST_CHECK(*areas.average_precision ==
                      doctest::Approx(*repeated.average_precision).epsilon(1e-14));
    }
    const Areas drawn = Ranking(scores, labels, units, times).areas(by_unit),
                written_out = Ranking(scores, labels, {}, of_drawn).areas();
    DOCTEST_CHECK(drawn.roc_auc == written_out.roc_auc);
    DOCTEST_CHECK(drawn.average_precision == written_out.average_precision);
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

DOCTEST_TEST_CASE("measures: equal to scikit-learn's and scipy's, of rows and of repeated rows") {
    const Json fixture = read_json(testing::test_data("metrics/sequences.json"));
    DOCTEST_REQUIRE(fixture["cases"].size() == 7);
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        std::vector<std::string> names;
        const FigureValues once = figures_of(one, names, {});
        check_equal(names, once, one["figures"]);
        const auto weights = one["weights"].get<std::vector<std::uint32_t>>();
        check_equal(names, figures_of(one, names, weights), one["weighted"]);
    }
}

DOCTEST_TEST_CASE("measures: rows of one unit are weighted together, rows that repeat as their copies") {
    const std::vector<float> no{0.9F, 0.2F, 0.6F, 0.3F}, yes{0.1F, 0.8F, 0.4F, 0.7F};
    const std::vector<std::uint32_t> truth{0, 1, 1, 0}, units{0, 0, 1, 1}, weights{2, 1}, rows{0, 1, 2, 3},
        row_weights{2, 2, 1, 1};
    const std::vector<std::int64_t> times{2, 2, 1, 1};
    const Measure by_unit = measure_classes({{no, yes}, units}, truth);
    const Measure by_row = measure_classes({{no, yes}, rows}, truth);
    DOCTEST_CHECK(by_unit.figures(weights) == by_row.figures(row_weights));
    DOCTEST_CHECK(by_unit.figures(weights) == measure_classes({{no, yes}, {}, {}, times}, truth).figures());
    DOCTEST_CHECK(called_classes({{no, yes}}) == std::vector<std::uint32_t>{0, 1, 0, 1});
    DOCTEST_CHECK(called_classes({{no, yes}}, 0.4) == std::vector<std::uint32_t>{0, 1, 1, 1});
    const FigureValues first = by_unit.figures_of_each()[0];
    DOCTEST_CHECK(FigureValues(first.begin(), first.begin() + 5) == FigureValues{2, 0.5, 0.5, 0.5, 0.75});
    DOCTEST_CHECK(*first[5] == doctest::Approx(5.0 / 6));
}

DOCTEST_TEST_CASE("measures: Matthews' coefficient of three classes") {
    // scikit-learn's matthews_corrcoef([0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 0])
    const std::vector<float> a{1, 0, 0, 0, 0, 1}, b{0, 1, 1, 1, 0, 0}, c{0, 0, 0, 0, 1, 0}, none(6, 0.0F);
    const std::vector<std::uint32_t> truth{0, 0, 1, 1, 2, 2};
    DOCTEST_CHECK(*measure_classes({{a, b, c}}, truth).figures()[1] ==
                  doctest::Approx(0.5222330).epsilon(1e-6));
    DOCTEST_CHECK(!measure_classes({{none, none, none}}, truth).figures()[1]);
}

DOCTEST_TEST_CASE("measures: units of coverage are added up, and weighted as a whole") {
    const std::vector<float> predicted{1, 2, 4, 1, 3, 5}, truth{0, 3, 2, 2, 6, 1}, sums{3, 5, 8},
        true_sums{3, 4, 7};
    const std::vector<std::uint32_t> units{0, 0, 1, 1, 2, 2}, each{0, 1, 2}, weights{1, 3, 2};
    const FigureValues whole = measure_numbers({{predicted}, units}, {truth}, true).figures(weights);
    const FigureValues of_sums = measure_numbers({{sums}, each}, {true_sums}).figures(weights);
    DOCTEST_CHECK(*whole[6] == doctest::Approx(*of_sums[0]).epsilon(1e-12));
    DOCTEST_CHECK(*whole[7] == doctest::Approx(*of_sums[1]).epsilon(1e-12));
    DOCTEST_CHECK_FALSE(whole[8].has_value());  // of one track
}

DOCTEST_TEST_CASE("measures: profiles beside scipy's distances, weighted by units") {
    const std::vector<float> predicted{1, 2, 1, 4, 1, 3, 5}, truth{0, 3, 1, 2, 2, 6, 0};
    const std::vector<std::uint32_t> units{0, 0, 0, 0, 1, 1, 1}, windows{0, 0, 0, 0, 1, 1, 1}, weights{1, 3};
    const Measure measure = measure_numbers({{predicted}, units, windows}, {truth}, true);
    // scipy.spatial.distance.jensenshannon of each window
    const double jsd[] = {0.272840749, 0.497354459}, flat[] = {0.339208008, 0.399532675};
    const FigureValues once = measure.figures(), weighted = measure.figures(weights);
    DOCTEST_REQUIRE(once.size() == measure.names.size());
    DOCTEST_CHECK(*once[10] == doctest::Approx((6 * jsd[0] + 8 * jsd[1]) / 14));
    DOCTEST_CHECK(*once[11] == doctest::Approx((6 * flat[0] + 8 * flat[1]) / 14));
    DOCTEST_CHECK(*weighted[10] == doctest::Approx((6 * jsd[0] + 24 * jsd[1]) / 30));
}

DOCTEST_TEST_CASE("measures: what is undefined is none") {
    const std::vector<float> no{0.9F, 0.8F}, yes{0.1F, 0.2F};
    const std::vector<std::uint32_t> truth{0, 0};
    DOCTEST_CHECK(measure_classes({{no, yes}}, truth).figures() ==
                  FigureValues{1, std::nullopt, 1, std::nullopt, std::nullopt});
    const std::vector<float> constant{0.1F, 0.1F, 0.1F}, numbers{1, 2, 4};
    const FigureValues of_predicted = measure_numbers({{constant}}, {numbers}).figures();
    DOCTEST_CHECK_FALSE(of_predicted[0].has_value());
    DOCTEST_CHECK_FALSE(of_predicted[1].has_value());
    DOCTEST_CHECK(*of_predicted[2] < 0);
    const FigureValues of_truth = measure_numbers({{numbers}}, {constant}).figures();
    DOCTEST_CHECK_FALSE(of_truth[2].has_value());
    DOCTEST_CHECK(of_truth[3].has_value());
    const LinearFigures linear = linear_figures(numbers, numbers);
    DOCTEST_CHECK(*linear.pearson == doctest::Approx(1));
    DOCTEST_CHECK(*linear.r2 == 1);
    DOCTEST_CHECK(*linear.mse == 0);
}
