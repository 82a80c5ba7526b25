// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation.hpp"

#include "support/confusion.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::evaluation;

namespace {

/// Every pair of a positive and a negative, one by one.
std::optional<double> pairwise_auc(const std::vector<float>& scores,
                                   const std::vector<std::uint8_t>& truths) {
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (truths[i] == 1 && truths[j] == 0) {
                right += scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0;
                pairs += 1;
            }
        }
    }
    return pairs > 0 ? std::optional(right / pairs) : std::nullopt;
}

struct JoinedBins {
    testing::TempDir folder;
    testing::ScoredBins bins{folder / "e", folder / "s.tsv", 300};
    ExampleSet examples = ExampleSet::load(folder / "e");
    ScoredExamples scored = join_scores(examples, folder / "s.tsv", Split::test, 20'000);
};

EvaluationOptions with_resamples(int resamples) {
    EvaluationOptions options;
    options.resamples = resamples;
    options.seed = 9;
    return options;
}

}  // namespace

DOCTEST_TEST_CASE("evaluation: figures a label and a group, undefined where there is no positive") {
    const JoinedBins fixture;
    const Evaluation result = evaluate(fixture.examples, fixture.scored, with_resamples(0));
    DOCTEST_CHECK(result.rows == 270);
    DOCTEST_REQUIRE(result.labels.size() == 4);
    std::vector<double> areas;
    for (const std::size_t l : {0U, 1U, 3U}) {
        const double expected = *pairwise_auc(fixture.bins.scores[l], fixture.bins.truths[l]);
        DOCTEST_CHECK(*result.labels[l].roc_auc.value == doctest::Approx(expected).epsilon(1e-12));
        DOCTEST_CHECK(!result.labels[l].roc_auc.low);
        areas.push_back(expected);
    }
    DOCTEST_CHECK(!result.labels[2].roc_auc.value);
    DOCTEST_CHECK(!result.labels[2].average_precision.value);
    DOCTEST_REQUIRE(result.groups.size() == 3);
    DOCTEST_CHECK(result.groups[0].group == "all");
    DOCTEST_CHECK(result.groups[0].labels == 4);
    DOCTEST_CHECK(result.groups[0].defined == 3);
    DOCTEST_CHECK(*result.groups[0].mean_roc_auc.value ==
                  doctest::Approx((areas[0] + areas[1] + areas[2]) / 3));
    std::sort(areas.begin(), areas.end());
    DOCTEST_CHECK(*result.groups[0].median_roc_auc.value == doctest::Approx(areas[1]));
    DOCTEST_CHECK(result.groups[2].group == "HM");
    DOCTEST_CHECK(result.groups[2].defined == 1);
    DOCTEST_CHECK(!result.at_threshold);
}

DOCTEST_TEST_CASE("evaluation: labels with few positives do not count in means") {
    const JoinedBins fixture;
    const auto rare = std::count(fixture.bins.truths[1].begin(), fixture.bins.truths[1].end(), 1);
    DOCTEST_REQUIRE(rare > 0);
    EvaluationOptions options = with_resamples(0);
    options.min_positives = rare + 1;
    const Evaluation result = evaluate(fixture.examples, fixture.scored, options);
    DOCTEST_CHECK(result.groups[1].defined == 1);
    DOCTEST_CHECK(*result.groups[1].mean_roc_auc.value == *result.labels[0].roc_auc.value);
    DOCTEST_CHECK(result.labels[1].roc_auc.value);  // still told
    DOCTEST_CHECK(!result.labels[1].summarised);
}

// The same draws of blocks, but rows written out as often as drawn.
DOCTEST_TEST_CASE("evaluation: intervals come from resampled blocks") {
    const JoinedBins fixture;
    const int resamples = 60;
    const Evaluation result = evaluate(fixture.examples, fixture.scored, with_resamples(resamples));
    DOCTEST_REQUIRE(result.blocks == 15);
    std::vector<double> areas, means;
    for (int b = 0; b < resamples; ++b) {
        Rng rng = Rng(9).split("bootstrap").split(static_cast<std::uint64_t>(b));
        std::vector<std::vector<float>> scores(4);
        std::vector<std::vector<std::uint8_t>> truths(4);
        for (int draw = 0; draw < 15; ++draw) {
            const auto block = static_cast<std::uint32_t>(rng.between(0, 14));
            for (std::size_t i = 0; i < fixture.scored.rows.size(); ++i) {
                if (fixture.scored.blocks[i] == block) {
                    for (std::size_t l = 0; l < 4; ++l) {
                        scores[l].push_back(fixture.bins.scores[l][i]);
                        truths[l].push_back(fixture.bins.truths[l][i]);
                    }
                }
            }
        }
        areas.push_back(*pairwise_auc(scores[0], truths[0]));
        const auto second = pairwise_auc(scores[1], truths[1]);
        means.push_back(second ? (areas.back() + *second) / 2 : areas.back());
    }
    const ConfidenceInterval of_label = bias_corrected_interval(*result.labels[0].roc_auc.value, areas);
    const ConfidenceInterval of_mean = bias_corrected_interval(*result.groups[1].mean_roc_auc.value, means);
    DOCTEST_CHECK(*result.labels[0].roc_auc.low == doctest::Approx(of_label.low).epsilon(1e-12));
    DOCTEST_CHECK(*result.labels[0].roc_auc.high == doctest::Approx(of_label.high).epsilon(1e-12));
    DOCTEST_CHECK(*result.groups[1].mean_roc_auc.low == doctest::Approx(of_mean.low).epsilon(1e-12));
    DOCTEST_CHECK(*result.groups[1].mean_roc_auc.high == doctest::Approx(of_mean.high).epsilon(1e-12));
    DOCTEST_CHECK(*result.labels[0].roc_auc.low < *result.labels[0].roc_auc.value);
    DOCTEST_CHECK(!result.labels[2].roc_auc.low);
}

DOCTEST_TEST_CASE(
    "evaluation: the same for any number of threads, others for another seed, one block has no interval") {
    const JoinedBins fixture;
    EvaluationOptions options = with_resamples(40);
    const Evaluation one = evaluate(fixture.examples, fixture.scored, options);
    options.threads = 4;
    const Evaluation four = evaluate(fixture.examples, fixture.scored, options);
    options.seed = 10;
    const Evaluation other = evaluate(fixture.examples, fixture.scored, options);
    DOCTEST_CHECK(*one.groups[0].mean_average_precision.low == *four.groups[0].mean_average_precision.low);
    DOCTEST_CHECK(*one.groups[0].mean_average_precision.low != *other.groups[0].mean_average_precision.low);
    const ScoredExamples whole =
        join_scores(fixture.examples, fixture.folder / "s.tsv", Split::test, 1'000'000);
    DOCTEST_CHECK(!evaluate(fixture.examples, whole, options).labels[0].roc_auc.low);
}

DOCTEST_TEST_CASE("evaluation: promoters also at a threshold") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 50);
    const ExampleSet examples = ExampleSet::load(folder / "e");
    const ScoredExamples scored = join_scores(examples, folder / "s.tsv", Split::test, 100'000);
    EvaluationOptions options = with_resamples(50);
    options.threshold = 0.6;
    const Evaluation result = evaluate(examples, scored, options);
    DOCTEST_REQUIRE(result.at_threshold.has_value());
    const Confusion expected = testing::confusion(promoters.scores, promoters.truths, 0.6);
    DOCTEST_CHECK(result.at_threshold->counts.true_positives == expected.true_positives);
    DOCTEST_CHECK(*result.at_threshold->f1.value == *expected.f1());
    DOCTEST_CHECK(*result.at_threshold->f1.low <= *expected.f1());
    DOCTEST_CHECK(*result.at_threshold->f1.high >= *expected.f1());
    DOCTEST_CHECK(*result.at_threshold->mcc.value == *expected.mcc());
    DOCTEST_CHECK(result.groups.size() == 1);
}

DOCTEST_TEST_CASE("evaluation: options that make no sense are refused") {
    EvaluationOptions options;
    options.min_positives = 0;
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
    options = {};
    options.resamples = -1;
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
    options = {};
    options.block_size = 0;
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
}
