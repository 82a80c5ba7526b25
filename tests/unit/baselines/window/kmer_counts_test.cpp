// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/kmer_counts.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/baselines/window/linear_svm.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::baselines;

namespace {

std::vector<Feature> counted(const KmerWords& words, const std::string& dna) {
    return KmerCounts(words).count(base_codes(dna));
}

double auroc(const std::vector<double>& scores, const std::vector<int>& labels) {
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (labels[i] != 1 || labels[j] != 0) continue;
            right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
            pairs += 1;
        }
    }
    return right / pairs;
}

}  // namespace

DOCTEST_TEST_CASE("baselines/kmer_counts: words of both strands are one feature, and N is in none") {
    const KmerWords both{.lengths = {2}};
    DOCTEST_CHECK(KmerCounts(both).size() == 10);
    DOCTEST_CHECK(KmerCounts({.lengths = {5, 6}}).size() == 512 + 2080);
    DOCTEST_CHECK((counted(both, "AACAA") == counted(both, "TTGTT")));
    const std::vector<Feature> one = counted(both, "AAAANTT");
    DOCTEST_REQUIRE(one.size() == 1);  // AA and TT
    DOCTEST_CHECK(one[0].value == doctest::Approx(2));
    DOCTEST_CHECK(counted(both, "ANA").empty());
}

DOCTEST_TEST_CASE("baselines/kmer_counts: a strand's own words, and dinucleotides at their places") {
    const KmerWords given{.lengths = {2}, .both_strands = false, .positions = 3};
    DOCTEST_CHECK(KmerCounts(given).size() == 16 + 48);
    // AC at 0, CN none, NG none, GT behind the places.
    const std::vector<Feature> features = counted(given, "ACNGT");
    DOCTEST_CHECK((features == std::vector<Feature>{{1, 1}, {11, 1}, {16 + 1, 1}}));
    DOCTEST_CHECK(std::ranges::is_sorted(counted(given, "TTACGGATTACA"), {}, &Feature::index));
}

DOCTEST_TEST_CASE("baselines/kmer_counts: lengths that cannot be are refused") {
    DOCTEST_CHECK(message_of<ConfigError>([] { KmerCounts({.lengths = {9}}); }) ==
                  "k-mers have 1 to 8 bases, not 9");
    DOCTEST_CHECK(message_of<ConfigError>([] { KmerCounts({.lengths = {}}); }) ==
                  "there are no k-mers to count");
}

DOCTEST_TEST_CASE("baselines/kmer_counts: logistic regression on them agrees with scikit-learn's") {
    for (const Json& expected : read_json(test_data("sequences/logistic.json"))) {
        const KmerCounts counts({.lengths = {3, 4},
                                 .both_strands = expected.at("both_strands").get<bool>(),
                                 .positions = expected.at("places").get<std::int64_t>()});
        DOCTEST_REQUIRE(counts.size() == expected.at("features").get<std::int64_t>());
        const auto sequences = expected.at("sequences").get<std::vector<std::string>>();
        const auto labels = expected.at("labels").get<std::vector<int>>();
        const auto wanted = expected.at("scores").get<std::vector<double>>();
        LinearSvm solver(counts.size());
        std::vector<std::uint8_t> ones;
        const std::size_t train = sequences.size() - wanted.size();
        for (std::size_t row = 0; row < train; ++row) {
            solver.add(counts.count(base_codes(sequences[row])));
            ones.push_back(static_cast<std::uint8_t>(labels[row]));
        }
        const LinearScores solved = solver.train(ones, {.loss = MarginLoss::logistic,
                                                        .cost = 1 / expected.at("penalty").get<double>(),
                                                        .tolerance = 1e-6});
        std::vector<double> scores;
        for (std::size_t row = train; row < sequences.size(); ++row) {
            double score = solved.bias.item<double>();
            for (const Feature& feature : counts.count(base_codes(sequences[row])))
                score += static_cast<double>(feature.value) * solved.weight[feature.index].item<double>();
            scores.push_back(score);
            DOCTEST_CHECK(score == doctest::Approx(wanted[row - train]).epsilon(1e-4));
        }
        DOCTEST_CHECK(
            std::abs(auroc(scores, {labels.begin() + static_cast<std::ptrdiff_t>(train), labels.end()}) -
                     expected.at("auroc").get<double>()) < 0.002);
    }
}
