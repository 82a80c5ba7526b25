// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

TaskInfo chromatin_info() {
    TaskInfo info;
    info.window = {-300, 300};
    return info;
}

class Models {
public:
    std::vector<ModelFolder> load(const std::vector<std::uint64_t>& seeds, std::int64_t labels = 3) {
        std::vector<ModelFolder> models;
        for (const std::uint64_t seed : seeds) {
            const auto place = folder_ / ("model" + std::to_string(seed) + "-" + std::to_string(labels));
            write_tiny_task_model(place, chromatin_info(), labels, seed);
            models.push_back(open_model(place, examples::Task::chromatin, at::kCPU));
        }
        return models;
    }

private:
    TempDir folder_;
};

std::vector<std::string> windows() {
    std::vector<std::string> sequences;
    for (std::uint64_t i = 0; i < 30; ++i)
        sequences.push_back(random_dna(600, i));
    sequences[4].assign(600, 'N');
    sequences[7].replace(0, 450, std::string(450, 'N'));  // fewer blocks than the others
    return sequences;
}

std::vector<float> scores_of(std::vector<ModelFolder> models, Strands strands,
                             std::int64_t batch_tokens = 4096, int threads = 1,
                             const std::vector<std::string>& sequences = windows()) {
    Predictor predictor(std::move(models), strands, batch_tokens);
    return predictor.score(predictor.encode(sequences, threads), {});
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    DOCTEST_REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        DOCTEST_REQUIRE(std::isnan(a[i]) == std::isnan(b[i]));
        if (!std::isnan(a[i])) largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    }
    return largest;
}

std::vector<float> mean(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> means;
    for (std::size_t i = 0; i < a.size(); ++i)
        means.push_back((a[i] + b[i]) / 2);
    return means;
}

}  // namespace

DOCTEST_TEST_CASE("window_scorer: probabilities, none for windows that are all N") {
    Models models;
    const auto scores = scores_of(models.load({1}), Strands::none);
    DOCTEST_REQUIRE(scores.size() == 90);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (i / 3 == 4) {
            DOCTEST_CHECK(std::isnan(scores[i]));
        } else {
            DOCTEST_CHECK(scores[i] > 0);
            DOCTEST_CHECK(scores[i] < 1);
        }
    }
    DOCTEST_CHECK(std::abs(scores[0] - scores[3]) > 1e-4);  // windows differ
}

DOCTEST_TEST_CASE("window_scorer: batch and threads change no score") {
    Models models;
    const auto expected = scores_of(models.load({1}), Strands::average);
    for (const std::int64_t batch_tokens : {1, 500, 1 << 20}) {
        DOCTEST_CHECK(
            largest_difference(scores_of(models.load({1}), Strands::average, batch_tokens), expected) < 1e-5);
    }
    DOCTEST_CHECK(largest_difference(scores_of(models.load({1}), Strands::average, 4096, 3), expected) == 0);
}

DOCTEST_TEST_CASE("window_scorer: several models give the mean of their scores") {
    Models models;
    const auto expected =
        mean(scores_of(models.load({1}), Strands::none), scores_of(models.load({2}), Strands::none));
    const auto together = scores_of(models.load({1, 2}), Strands::none);
    DOCTEST_CHECK(largest_difference(together, expected) < 1e-6);
    DOCTEST_CHECK(largest_difference(together, scores_of(models.load({1}), Strands::none)) > 1e-4);
}

DOCTEST_TEST_CASE("window_scorer: the strands") {
    Models models;
    auto reversed = windows();
    for (std::string& sequence : reversed)
        sequence = genome::reverse_complement(sequence);
    const auto forward = scores_of(models.load({1}), Strands::none);
    const auto reverse = scores_of(models.load({1}), Strands::only);
    DOCTEST_CHECK(largest_difference(reverse, scores_of(models.load({1}), Strands::none, 4096, 1, reversed)) <
                  1e-6);
    const auto average = scores_of(models.load({1}), Strands::average);
    DOCTEST_CHECK(largest_difference(average, mean(forward, reverse)) < 1e-6);
    DOCTEST_CHECK(
        largest_difference(average, scores_of(models.load({1}), Strands::average, 4096, 1, reversed)) < 1e-6);
    DOCTEST_CHECK(largest_difference(forward, reverse) > 1e-4);
    auto pair = models.load({1});
    pair[0].labels = rows::LabelTable({{".", "plus", -1, 1}, {".", "minus", -1, 0}, {".", "c", -1}});
    const auto turned = scores_of(pair, Strands::only);
    for (const std::size_t row : {std::size_t{0}, std::size_t{29}}) {
        DOCTEST_CHECK(turned[3 * row] == reverse[3 * row + 1]);
        DOCTEST_CHECK(turned[3 * row + 1] == reverse[3 * row]);
        DOCTEST_CHECK(turned[3 * row + 2] == reverse[3 * row + 2]);
    }
}

DOCTEST_TEST_CASE("window_scorer: windows that do not fit are cut and marked") {
    Models models;
    Predictor predictor(models.load({1}), Strands::none, 4096);
    const auto encoded =
        predictor.encode(std::vector<std::string>{random_dna(600, 1), random_dna(6000, 2), ""}, 2);
    DOCTEST_CHECK(encoded.truncated == std::vector<bool>{false, true, false});
    DOCTEST_CHECK(encoded.kept == std::vector<std::size_t>{0, 1});
    DOCTEST_CHECK(encoded.readings[0][1].ids.size() == 512);
}

DOCTEST_TEST_CASE("window_scorer: models that do not agree, words of --reverse-complement") {
    Models models;
    auto mixed = models.load({1});
    mixed.push_back(std::move(models.load({2}, 2)[0]));
    DOCTEST_CHECK(message_of<ConfigError>([&] { Predictor(std::move(mixed), Strands::none, 1); }) ==
                  "--model number 2 has other labels than the first: models that are averaged must agree");
    auto shifted = models.load({1, 2});
    shifted[1].info.window = {-100, 100};
    DOCTEST_CHECK(
        message_of<ConfigError>([&] { Predictor(std::move(shifted), Strands::none, 1); }) ==
        "--model number 2 takes the window -100:100, the first one -300:300: models that are averaged must "
        "agree");
}

DOCTEST_TEST_CASE(
    "window_scorer: windows get what the predictor gives them, rows that are not scored nothing") {
    const TempDir folder;
    TaskInfo info;
    info.window = {-100, 100};
    write_tiny_task_model(folder / "m", info, 2, 1);
    Predictor predictor({open_model(folder / "m", examples::Task::chromatin, at::kCPU)}, Strands::none, 1000);
    std::vector<rows::RegionRow> rows(3);
    std::vector<std::string> sequences;
    for (std::size_t i = 0; i < rows.size(); ++i)
        sequences.push_back(rows[i].sequence = random_dna(200, i));
    rows[1].head.status = rows::RowStatus::no_contig;
    sequences[1].clear();
    const PreparedRows prepared = predictor.prepare(rows, 1);
    const std::vector<float> scores = predictor.score(prepared, {});
    const std::vector<float> wanted = predictor.score(predictor.encode(sequences, 1), {});
    for (std::size_t i = 0; i < scores.size(); ++i)
        DOCTEST_CHECK((scores[i] == wanted[i] || (std::isnan(scores[i]) && i / 2 == 1)));
    DOCTEST_CHECK(prepared.truncated.size() == 3);
    DOCTEST_CHECK(rows[0].sequence.empty());
    DOCTEST_CHECK(predictor.region_options(rows::Anchor::summit).anchor == rows::Anchor::summit);
    DOCTEST_CHECK(predictor.region_options(rows::Anchor::centre).bounds == info.window);
}
