// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/sequences/sequence_figures.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <numeric>

using namespace bigbird;
using namespace bigbird::evaluation;

namespace {

template <typename T>
std::vector<T> flat(const Json& rows) {
    std::vector<T> values;
    for (const Json& row : rows)
        for (const Json& value : row)
            values.push_back(value.get<T>());
    return values;
}

/// Each row its own unit.
std::unique_ptr<SequenceMeasure> measure(const Json& one, const std::vector<float>& scores,
                                         const std::vector<std::uint32_t>& units) {
    const MeasuredRows rows{scores, one["scores"][0].size(), units};
    const Json threshold = one.value("threshold", Json());
    if (one["target"] == "classes") {
        return measure_classes(rows, one["truth"].get<std::vector<std::uint32_t>>(),
                               threshold.is_null() ? std::nullopt : std::optional(threshold.get<double>()));
    }
    if (one["target"] == "labels") return measure_labels(rows, flat<std::uint8_t>(one["truth"]), 0.5);
    return measure_numbers(rows, flat<float>(one["truth"]), one["target"] == "coverage");
}

void check_equal(const SequenceMeasure& measure, const FigureValues& found, const Json& expected) {
    DOCTEST_REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string& name = measure.names[i];
        DOCTEST_CAPTURE(name);
        DOCTEST_REQUIRE(found[i].has_value());
        const double off =
            name == "pearson_across" || name == "pearson_mean_track" ? 1e-7 : 1e-12;  // float32 means
        DOCTEST_CHECK(*found[i] == doctest::Approx(expected[name].get<double>()).epsilon(off));
    }
}

}  // namespace

DOCTEST_TEST_CASE("sequence_figures: equal to scikit-learn's and scipy's, of rows and of repeated rows") {
    const Json fixture = read_json(testing::test_data("metrics/sequences.json"));
    DOCTEST_REQUIRE(fixture["cases"].size() == 7);
    for (const Json& one : fixture["cases"]) {
        const std::string name = one["name"];
        DOCTEST_CAPTURE(name);
        const auto scores = flat<float>(one["scores"]);
        std::vector<std::uint32_t> units(one["scores"].size());
        std::iota(units.begin(), units.end(), 0U);
        const auto measured = measure(one, scores, units);
        check_equal(*measured, measured->figures({}), one["figures"]);
        const auto weights = one["weights"].get<std::vector<std::uint32_t>>();
        check_equal(*measured, measured->figures(weights), one["weighted"]);
    }
}

DOCTEST_TEST_CASE("sequence_figures: rows of one unit are weighted together") {
    const std::vector<float> scores{0.9F, 0.1F, 0.2F, 0.8F, 0.6F, 0.4F, 0.3F, 0.7F};
    const std::vector<std::uint32_t> truth{0, 1, 1, 0}, units{0, 0, 1, 1}, weights{2, 1}, rows{0, 1, 2, 3},
        row_weights{2, 2, 1, 1};
    const auto by_unit = measure_classes({scores, 2, units}, truth, std::nullopt);
    const auto by_row = measure_classes({scores, 2, rows}, truth, std::nullopt);
    DOCTEST_CHECK(by_unit->figures(weights) == by_row->figures(row_weights));
    DOCTEST_CHECK(by_unit->confusion() == std::vector<std::vector<std::int64_t>>{{1, 1}, {1, 1}});
    const FigureValues first = by_unit->figures_of_each()[0];
    DOCTEST_CHECK(FigureValues(first.begin(), first.end() - 1) == FigureValues{2, 0.5, 0.5, 0.5, 0.75});
    DOCTEST_CHECK(*first.back() == doctest::Approx(5.0 / 6));
}

DOCTEST_TEST_CASE("sequence_figures: units of coverage are added up, and weighted as a whole") {
    const std::vector<float> predicted{1, 2, 4, 1, 3, 5}, truth{0, 3, 2, 2, 6, 1}, sums{3, 5, 8},
        true_sums{3, 4, 7};
    const std::vector<std::uint32_t> units{0, 0, 1, 1, 2, 2}, each{0, 1, 2}, weights{1, 3, 2};
    const FigureValues whole = measure_numbers({predicted, 1, units}, truth, true)->figures(weights);
    const FigureValues of_sums = measure_numbers({sums, 1, each}, true_sums)->figures(weights);
    DOCTEST_CHECK(*whole[6] == doctest::Approx(*of_sums[0]).epsilon(1e-12));
    DOCTEST_CHECK(*whole[7] == doctest::Approx(*of_sums[1]).epsilon(1e-12));
    DOCTEST_CHECK_FALSE(whole[8].has_value());  // of one track
}

DOCTEST_TEST_CASE("sequence_figures: profiles beside scipy's distances, weighted by units") {
    const std::vector<float> predicted{1, 2, 1, 4, 1, 3, 5}, truth{0, 3, 1, 2, 2, 6, 0};
    const std::vector<std::uint32_t> units{0, 0, 0, 0, 1, 1, 1}, windows{0, 0, 0, 0, 1, 1, 1}, weights{1, 3};
    const auto measure = measure_numbers({predicted, 1, units, windows}, truth, true);
    // scipy.spatial.distance.jensenshannon of each window
    const double jsd[] = {0.272840749, 0.497354459}, flat[] = {0.339208008, 0.399532675};
    const FigureValues once = measure->figures({}), weighted = measure->figures(weights);
    DOCTEST_REQUIRE(once.size() == measure->names.size());
    DOCTEST_CHECK(*once[10] == doctest::Approx((6 * jsd[0] + 8 * jsd[1]) / 14));
    DOCTEST_CHECK(*once[11] == doctest::Approx((6 * flat[0] + 8 * flat[1]) / 14));
    DOCTEST_CHECK(*weighted[10] == doctest::Approx((6 * jsd[0] + 24 * jsd[1]) / 30));
}

DOCTEST_TEST_CASE("sequence_figures: what is undefined is none") {
    const std::vector<float> scores{0.9F, 0.1F, 0.8F, 0.2F};
    const std::vector<std::uint32_t> truth{0, 0}, units{0, 1};
    const FigureValues classes = measure_classes({scores, 2, units}, truth, std::nullopt)->figures({});
    DOCTEST_CHECK(classes == FigureValues{1, std::nullopt, 1, std::nullopt, std::nullopt});
    const std::vector<float> predicted{0.1F, 0.1F, 0.1F}, numbers{1, 2, 4};
    const std::vector<std::uint32_t> three{0, 1, 2};
    const FigureValues constant = measure_numbers({predicted, 1, three}, numbers)->figures({});
    DOCTEST_CHECK_FALSE(constant[0].has_value());
    DOCTEST_CHECK_FALSE(constant[1].has_value());
    DOCTEST_CHECK(*constant[2] < 0);
    const FigureValues of_constant = measure_numbers({numbers, 1, three}, predicted)->figures({});
    DOCTEST_CHECK_FALSE(of_constant[2].has_value());
    DOCTEST_CHECK(of_constant[3].has_value());
}
