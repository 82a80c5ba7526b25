// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/scorers.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/scoring/edited_window.hpp"

#include <ATen/ATen.h>

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

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
    const Placement& placement = predictor.placement();
    DOCTEST_CHECK(placement.region_options(rows::Anchor::summit).anchor == rows::Anchor::summit);
    DOCTEST_CHECK(placement.region_options(rows::Anchor::centre).bounds == info.window);
}

namespace {

ModelFolder model_of(std::uint64_t seed, const bins::BinsConfig& config = small_bins()) {
    ModelFolder model;
    model.network = small_base_bins(seed, config);
    model.info = small_bins_info(config);
    model.labels = rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}});
    return model;
}

/// 1,010 bases: 50 bins of 20 and half a bin.
struct ScorerScene {
    std::unique_ptr<genome::ReferenceGenome> reference =
        genome::in_memory_genome({{"c", random_dna(1010, 1)}, {"d", random_dna(500, 2)}});
    SequenceOf sequence = [this](const genome::Interval& where) { return reference->fetch(where); };

    std::unique_ptr<RowScorer> scorer(Strands strands, std::vector<ModelFolder> models) const {
        return bins_scorer(std::move(models), sequence, {.strands = strands});
    }
    std::unique_ptr<RowScorer> scorer(Strands strands) const { return scorer(strands, {model_of(1)}); }
    static std::vector<float> scores(RowScorer& scorer, const std::vector<genome::Interval>& places) {
        std::vector<rows::RegionRow> rows;
        for (const genome::Interval& place : places) {
            rows.emplace_back();
            rows.back().window = place;
        }
        return scorer.score(scorer.prepare(rows, 1), {});
    }
    /// (window_bins, labels) of the network itself, for window `number` of a contig.
    at::Tensor window(const std::string& contig, std::int64_t number, bool reverse = false) const {
        const std::int64_t begin = (number * 4 - 2) * 20;
        std::string dna = reference->fetch({contig, begin, begin + 160});
        if (reverse) dna = genome::reverse_complement(dna);
        const at::NoGradGuard no_gradients;
        const at::Tensor p = logits_of(*small_base_bins(1), {dna}).sigmoid()[0];
        return reverse ? p.flip(0) : p;
    }
};

}  // namespace

DOCTEST_TEST_CASE("bins scorer: a row is the mean of its bins, each from the core of its window") {
    const ScorerScene scene;
    const auto scorer = scene.scorer(Strands::none);
    // Bin 13 is bin 1 of the core of window 3; bases 70 to 110 are half of bin 3 (window 0), bin 4 and half
    // of bin 5 (window 1).
    const std::vector<float> scores =
        ScorerScene::scores(*scorer, {{"c", 260, 280}, {"c", 70, 110}, {"d", 0, 20}});
    const at::Tensor a = scene.window("c", 3)[2 + 1];
    const at::Tensor b = 0.25 * scene.window("c", 0)[2 + 3] + 0.5 * scene.window("c", 1)[2] +
                         0.25 * scene.window("c", 1)[2 + 1];
    const at::Tensor d = scene.window("d", 0)[2];
    for (std::int64_t label = 0; label < 2; ++label) {
        const auto at = static_cast<std::size_t>(label);
        DOCTEST_CHECK(scores[at] == doctest::Approx(a[label].item<float>()).epsilon(1e-6));
        DOCTEST_CHECK(scores[2 + at] == doctest::Approx(b[label].item<float>()).epsilon(1e-6));
        DOCTEST_CHECK(scores[4 + at] == doctest::Approx(d[label].item<float>()).epsilon(1e-6));
    }
}

DOCTEST_TEST_CASE(
    "bins scorer: a row longer than a bin gets the largest of the bins that it touches, if so told") {
    const ScorerScene scene;
    const auto each = scene.scorer(Strands::average, {model_of(1), model_of(2)});
    std::vector<genome::Interval> bins;
    for (std::int64_t bin = 3; bin <= 9; ++bin)
        bins.push_back({"c", bin * 20, (bin + 1) * 20});
    const std::vector<float> of_bins = ScorerScene::scores(*each, bins);
    const auto largest = bins_scorer({model_of(1), model_of(2)}, scene.sequence,
                                     {.strands = Strands::average, .largest = true});
    const std::vector<genome::Interval> rows{{"c", 70, 185}, {"c", 70, 90}, {"c", 60, 80}};
    const std::vector<float> scores = ScorerScene::scores(*largest, rows),
                             means = ScorerScene::scores(*each, rows);
    for (std::size_t label = 0; label < 2; ++label) {
        float best = 0;
        for (std::size_t bin = 0; bin < bins.size(); ++bin)
            best = std::max(best, of_bins[2 * bin + label]);
        DOCTEST_CHECK(scores[label] == best);
        DOCTEST_CHECK(scores[label] > means[label]);
        // No longer than a bin: as ever.
        DOCTEST_CHECK(scores[2 + label] == means[2 + label]);
        DOCTEST_CHECK(scores[4 + label] == of_bins[label]);
    }
}

DOCTEST_TEST_CASE("bins scorer: a row's score is the same whatever rows stand beside it and in any order") {
    const ScorerScene scene;
    std::vector<genome::Interval> places;
    for (std::int64_t begin = 0; begin + 33 <= 1010; begin += 17)
        places.push_back({"c", begin, begin + 33});
    const auto together = scene.scorer(Strands::average);
    const std::vector<float> all = ScorerScene::scores(*together, places);
    std::vector<genome::Interval> turned(places.rbegin(), places.rend());
    const std::vector<float> backwards = ScorerScene::scores(*together, turned);
    const auto alone = scene.scorer(Strands::average);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::vector<float> one = ScorerScene::scores(*alone, {places[i]});
        for (std::size_t label = 0; label < 2; ++label) {
            DOCTEST_CHECK(one[label] == all[2 * i + label]);
            DOCTEST_CHECK(backwards[2 * (places.size() - 1 - i) + label] == all[2 * i + label]);
        }
    }
}

DOCTEST_TEST_CASE("bins scorer: both strands are averaged bin by bin") {
    const ScorerScene scene;
    const std::vector<genome::Interval> place{{"c", 300, 320}};  // bin 15: bin 3 of the core of window 3
    const auto average = scene.scorer(Strands::average), only = scene.scorer(Strands::only);
    const float forward = scene.window("c", 3)[2 + 3][0].item<float>();
    const float reverse = scene.window("c", 3, true)[2 + 3][0].item<float>();
    DOCTEST_CHECK(ScorerScene::scores(*average, place)[0] ==
                  doctest::Approx((forward + reverse) / 2).epsilon(1e-6));
    DOCTEST_CHECK(ScorerScene::scores(*only, place)[0] == doctest::Approx(reverse).epsilon(1e-6));
}

DOCTEST_TEST_CASE("bins scorer: the reverse complement has the tracks of a strand pair swapped") {
    const ScorerScene scene;
    ModelFolder pair = model_of(1);
    pair.labels = rows::LabelTable({{".", "plus", -1, 1}, {".", "minus", -1, 0}});
    const std::vector<genome::Interval> place{{"c", 300, 320}};
    const auto average = scene.scorer(Strands::average, {pair}), only = scene.scorer(Strands::only, {pair});
    const at::Tensor forward = scene.window("c", 3)[2 + 3], reverse = scene.window("c", 3, true)[2 + 3];
    const std::vector pairs{pair};
    const EditedWindow window(pairs, Strands::average, scene.reference->fetch({"c", 200, 360}));
    const at::Tensor edited = window.reference()[2 + 3];  // window 3
    for (std::int64_t track = 0; track < 2; ++track) {
        const auto at = static_cast<std::size_t>(track);
        const float turned = reverse[1 - track].item<float>(),
                    mean = (forward[track].item<float>() + turned) / 2;
        DOCTEST_CHECK(ScorerScene::scores(*only, place)[at] == doctest::Approx(turned).epsilon(1e-6));
        DOCTEST_CHECK(ScorerScene::scores(*average, place)[at] == doctest::Approx(mean).epsilon(1e-6));
        DOCTEST_CHECK(edited[track].item<double>() == doctest::Approx(mean).epsilon(1e-5));
    }
}

DOCTEST_TEST_CASE("bins scorer: several models are averaged, those that do not agree refused") {
    const ScorerScene scene;
    const std::vector<genome::Interval> place{{"c", 300, 340}};
    bins::BinsConfig longer = small_bins();
    longer.window_bins = 16;
    const auto one = scene.scorer(Strands::none), two = scene.scorer(Strands::none, {model_of(2)});
    const auto both = scene.scorer(Strands::none, {model_of(1), model_of(2)});
    DOCTEST_CHECK(
        ScorerScene::scores(*both, place)[1] ==
        doctest::Approx((ScorerScene::scores(*one, place)[1] + ScorerScene::scores(*two, place)[1]) / 2));
    bins::BinsConfig other = small_bins();
    other.bin = 40;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      scene.scorer(Strands::none, {model_of(1), model_of(1, other)});
                  }).find("has bins of 40 bases, the first one of 20") != std::string::npos);
    ModelFolder window = model_of(1);
    window.network = tiny_windows(tiny_config(2), 1);
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      scene.scorer(Strands::none, {model_of(1), window});
                  }).find("--model number 2 scores one window a row") != std::string::npos);
}

DOCTEST_TEST_CASE("bins scorer: rows that cannot be scored have none") {
    const ScorerScene scene;
    const auto scorer = scene.scorer(Strands::none);
    std::vector<rows::RegionRow> rows(2);
    rows[0].head.status = rows::RowStatus::all_n;
    rows[1].window = {"c", 1000, 1010};
    const std::vector<float> scores = scorer->score(scorer->prepare(rows, 1), {});
    DOCTEST_CHECK(std::isnan(scores[0]));
    DOCTEST_CHECK(std::isfinite(scores[2]));
    const Placement& placement = scorer->placement();
    DOCTEST_CHECK(placement.region_options(rows::Anchor::centre).anchor == rows::Anchor::itself);
    DOCTEST_CHECK(placement.region_options(rows::Anchor::summit).bounds == rows::WindowBounds{-10, 10});
}

namespace {

/// A contig whose letters say where they lie, and a model whose value of a bin is its first base's number.
struct GridScene {
    bins::Grid grid{.bin = 10, .window_bins = 6, .margin_bins = 1};
    std::int64_t windows = 0, calls = 0;
    SequenceOf sequence = [](const genome::Interval& where) { return std::to_string(where.begin); };
    GridRows rows(std::size_t at_once) {
        return {grid, sequence, at_once,
                [this](std::span<const std::string> some) {
                    ++calls;
                    windows += std::ssize(some);
                    at::Tensor values = at::empty({std::ssize(some), 6, 1});
                    for (std::size_t i = 0; i < some.size(); ++i)
                        values[static_cast<std::int64_t>(i)] =
                            (std::stod(some[i]) + 10 * at::arange(6)).unsqueeze(1);
                    return values;
                }};
    }
};

std::vector<double> sums(GridRows& rows, const std::vector<GridRow>& wanted) {
    std::vector<double> all(wanted.size());
    rows.add(wanted, 1, all, {});
    return all;
}

}  // namespace

DOCTEST_TEST_CASE("grid rows: a row is the mean of its bins, weighted by what they share") {
    GridScene scene;
    GridRows rows = scene.rows(1);
    const std::vector<double> all =
        sums(rows, {{{"c", 40, 50}, true}, {{"c", 35, 50}, true}, {{"c", 0, 10}, false}});
    DOCTEST_CHECK(all[0] == doctest::Approx(40));
    DOCTEST_CHECK(all[1] == doctest::Approx((5 * 30 + 10 * 40) / 15.0));
    DOCTEST_CHECK(all[2] == 0);
    DOCTEST_CHECK(scene.windows == 2);  // bins 0 to 3 and 4 to 7
}

DOCTEST_TEST_CASE("grid rows: windows go together, and the last ones are kept") {
    GridScene scene;
    GridRows rows = scene.rows(3);
    std::vector<GridRow> wanted;
    for (std::int64_t bin = 0; bin < 28; ++bin)
        wanted.push_back({{"c", 10 * bin, 10 * bin + 10}, true});
    const std::vector<double> all = sums(rows, wanted);
    for (std::size_t i = 0; i < all.size(); ++i)
        DOCTEST_CHECK(all[i] == doctest::Approx(10.0 * static_cast<double>(i)));
    DOCTEST_CHECK(scene.windows == 7);
    DOCTEST_CHECK(scene.calls == 3);
    sums(rows, {wanted.back()});
    DOCTEST_CHECK(scene.calls == 3);
    sums(rows, {wanted.front()});
    DOCTEST_CHECK(scene.calls == 4);
}

DOCTEST_TEST_CASE("grid rows: says what part is done") {
    GridScene scene;
    GridRows rows = scene.rows(1);
    std::vector<double> parts, all(2);
    const std::vector<GridRow> wanted{{{"c", 0, 10}, true}, {{"c", 400, 410}, true}};
    rows.add(wanted, 1, all, [&](double part) { parts.push_back(part); });
    DOCTEST_CHECK(parts == std::vector{0.5, 1.0});
}

DOCTEST_TEST_CASE("grid rows: windows that a row adds to those of the row in front of it") {
    const bins::Grid grid{.bin = 100, .window_bins = 12, .margin_bins = 1};  // cores of ten bins
    const genome::Interval first{"c", 0, 200}, same{"c", 800, 1000}, next{"c", 900, 1100},
        far{"c", 3000, 5100}, other{"d", 3000, 3001};
    using tasks::begin_in_one_window, tasks::count_new_windows;
    DOCTEST_CHECK(count_new_windows(grid, nullptr, first) == 1);
    DOCTEST_CHECK(count_new_windows(grid, &first, same) == 0);
    DOCTEST_CHECK(count_new_windows(grid, &same, next) == 1);
    DOCTEST_CHECK(count_new_windows(grid, &next, far) == 3);
    DOCTEST_CHECK(count_new_windows(grid, &far, other) == 1);
    DOCTEST_CHECK(count_new_windows(grid, &far, first) == 1);  // not in order
    DOCTEST_CHECK(begin_in_one_window(grid, first, next));
    DOCTEST_CHECK(!begin_in_one_window(grid, next, far));
    DOCTEST_CHECK(!begin_in_one_window(grid, far, other));
}

DOCTEST_TEST_CASE("placement: the windows of a row, and the weights of their segments") {
    const std::vector<ModelFolder> bins{model_of(1)};
    const Placement grid(bins, false);
    DOCTEST_CHECK(grid.by_bins());
    DOCTEST_CHECK(grid.longest() == 80);  // a core of four bins
    const std::vector<RowPart> parts = grid.parts({"c", 70, 110}, genome::Strand::none);
    DOCTEST_REQUIRE(parts.size() == 2);
    DOCTEST_CHECK(parts[0].window == genome::Interval{"c", -40, 120});
    DOCTEST_CHECK(parts[0].segments == std::vector<std::int64_t>{5});
    DOCTEST_CHECK(parts[0].weights == std::vector{0.25});
    DOCTEST_CHECK(parts[1].window == genome::Interval{"c", 40, 200});
    DOCTEST_CHECK(parts[1].segments == std::vector<std::int64_t>{2, 3});
    DOCTEST_CHECK(parts[1].weights == std::vector{0.5, 0.25});
    DOCTEST_CHECK(parts[1].weights_of_all(8).sum().item<float>() == 0.75F);
    DOCTEST_CHECK(grid.record_fit().shortest == 20);

    std::vector<ModelFolder> promoters{model_of(1)};
    promoters[0].network = tiny_windows(tiny_config(2), 1);
    promoters[0].info = TaskInfo{};
    promoters[0].info.task = examples::Task::promoter;
    promoters[0].info.window = {-300, 100};
    const Placement tss(promoters, false), records(promoters, true);
    const genome::Interval row{"c", 1000, 1200};
    const std::vector<RowPart> forward = tss.parts(row, genome::Strand::forward);
    DOCTEST_REQUIRE(forward.size() == 1);
    DOCTEST_CHECK(forward[0].window == genome::Interval{"c", 700, 1100});
    DOCTEST_CHECK(forward[0].segments == std::vector<std::int64_t>{0});
    DOCTEST_CHECK(forward[0].weights == std::vector{1.0});
    DOCTEST_CHECK(tss.parts(row, genome::Strand::reverse)[0].window == genome::Interval{"c", 1100, 1500});
    DOCTEST_CHECK(tss.is_turned(genome::Strand::reverse));
    DOCTEST_CHECK_FALSE(tss.reads_both_strands());
    DOCTEST_CHECK(tss.longest() == 400);
    DOCTEST_CHECK_FALSE(records.is_turned(genome::Strand::reverse));
    DOCTEST_CHECK(records.longest() == 0);
    DOCTEST_CHECK(records.record_fit().window == 400);
    DOCTEST_CHECK(records.parts(row, genome::Strand::none)[0].window.size() == 400);
}

DOCTEST_TEST_CASE("edited window: networks without a faster road compute complete windows") {
    std::vector<ModelFolder> models{model_of(1)};
    models[0].network = tiny_windows(tiny_config(2), 1);
    const std::string dna = random_dna(300, 5);
    std::string changed = dna;
    changed[17] = dna[17] == 'A' ? 'C' : 'A';
    const EditedWindow window(models, Strands::average, dna), other(models, Strands::average, changed);
    const bins::Substitution each[] = {{17, bins::code_of(changed[17])}};
    const at::Tensor segments = at::zeros({1, 1}, at::kLong);
    const std::string texts[] = {changed, std::string(300, 'N'), dna};
    const at::Tensor edited = window.edited(texts);
    DOCTEST_CHECK(window.substituted(each, segments)[0].equal(other.reference()));
    DOCTEST_CHECK(edited[0].equal(other.reference()));
    DOCTEST_CHECK(edited[1].isnan().all().item<bool>());
    DOCTEST_CHECK(edited[2].equal(window.reference()));
    DOCTEST_CHECK_FALSE(edited[0].equal(edited[2]));
}

DOCTEST_TEST_CASE(
    "additive_effect: log odds of probabilities, logarithms of coverage, differences of numbers") {
    for (const auto link : {LinkFunction::logistic, LinkFunction::softmax})
        DOCTEST_CHECK(additive_effect(link) == "log_odds");
    for (const auto link : {LinkFunction::exponential, LinkFunction::softplus})
        DOCTEST_CHECK(additive_effect(link) == "log_ratio");
    DOCTEST_CHECK(additive_effect(LinkFunction::identity) == "difference");
}
