// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/effect_background.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>
#include <fstream>
#include <limits>

using namespace bigbird;
using namespace bigbird::testing;
using outputs::EffectBackground;

namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

/// One label, whose variants and shuffled variants have the same effects.
EffectBackground background_of(const std::vector<float>& effects) {
    EffectBackground background;
    background.run = {{"task", "chromatin"}, {"model_sha256", "abc"}};
    background.labels = {"a|b"};
    background.variants = background.shuffled = std::ssize(effects);
    background.seed = 3;
    background.levels = outputs::background_levels();
    background.of_variants = background.of_shuffled = outputs::quantiles_of(effects, background.levels);
    std::vector<float> sizes = effects;
    for (float& size : sizes)
        size = std::abs(size);
    background.of_largest = outputs::quantiles_of(std::move(sizes), background.levels);
    return background;
}

}  // namespace

DOCTEST_TEST_CASE("effect_background: numpy's quantiles, and shares as scipy's percentileofscore has them") {
    std::ifstream file(test_data("variants/background.tsv"));
    std::vector<float> effects;
    std::vector<std::array<double, 2>> quantiles;
    std::vector<std::array<double, 3>> shares;
    std::string word;
    double a = 0, b = 0, c = 0;
    while (file >> word >> a) {
        if (word == "effect") effects.push_back(static_cast<float>(a));
        if (word == "level" && file >> b) quantiles.push_back({a, b});
        if (word == "value" && file >> b >> c) shares.push_back({a, b, c});
    }
    DOCTEST_REQUIRE(effects.size() == 800);
    for (const auto& [level, quantile] : quantiles) {
        DOCTEST_CHECK(double{outputs::quantiles_of(effects, std::vector{level}).front()} ==
                      doctest::Approx(quantile).epsilon(1e-6));
    }
    const EffectBackground background = background_of(effects);
    DOCTEST_REQUIRE(shares.size() == 45);
    for (const auto& [value, smaller, as_large] : shares) {
        DOCTEST_CAPTURE(value);
        DOCTEST_CHECK(std::abs(background.quantile(0, value) - smaller) < 0.006);
        const double p = (1 + 800 * as_large) / 801;
        DOCTEST_CHECK(std::abs(background.p(0, value) - p) < 0.01);
        DOCTEST_CHECK(std::abs(background.p_of_largest(value) - p) < 0.01);
    }
}

DOCTEST_TEST_CASE("effect_background: ties count half, ends are 0 and 1, NaN stay out") {
    const EffectBackground background = background_of({-1, none, 0, 0, 0, 1});
    DOCTEST_CHECK(background.quantile(0, 0) == doctest::Approx(0.5));
    DOCTEST_CHECK(background.quantile(0, -2) == 0);
    DOCTEST_CHECK(background.quantile(0, 2) == 1);
    DOCTEST_CHECK(background.p(0, 0) == 1);
    DOCTEST_CHECK(background.p(0, -2) == doctest::Approx(1.0 / 7));
    DOCTEST_CHECK(std::isnan(background.quantile(0, none)));
    const EffectBackground empty = background_of({none});
    DOCTEST_CHECK(std::isnan(empty.quantile(0, 1)));
    DOCTEST_CHECK(std::isnan(empty.p(0, 1)));
    DOCTEST_CHECK(std::isnan(empty.p_of_largest(1)));
    DOCTEST_CHECK(std::isnan(EffectBackground().p_of_largest(1)));
    DOCTEST_CHECK(background.p_of_largest(0) == 1);
    DOCTEST_CHECK(background.p_of_largest(-2) == doctest::Approx(1.0 / 7));
}

DOCTEST_TEST_CASE("effect_background: levels are symmetric and reach from 0 to 1") {
    const std::vector<double> levels = outputs::background_levels();
    DOCTEST_CHECK(levels.size() == 161);
    DOCTEST_CHECK(levels[1] == doctest::Approx(1e-5));
    for (std::size_t i = 0; i < levels.size(); ++i)
        DOCTEST_CHECK(levels[i] == doctest::Approx(1 - levels[levels.size() - 1 - i]));
}

DOCTEST_TEST_CASE("effect_background: a file gives back what was written, others are refused") {
    const TempDir folder;
    const EffectBackground written = background_of({-0.5F, 0.25F, 3});
    outputs::write_background(folder / "b.h5", Overwrite::refuse, written);
    const EffectBackground read = outputs::read_background(folder / "b.h5");
    DOCTEST_CHECK(read.run == written.run);
    DOCTEST_CHECK(read.labels == written.labels);
    DOCTEST_CHECK(read.find("a|b") == std::size_t{0});
    DOCTEST_CHECK_FALSE(read.find("b"));
    DOCTEST_CHECK(read.seed == 3);
    DOCTEST_CHECK(read.variants == 3);
    DOCTEST_CHECK(read.levels == written.levels);
    DOCTEST_CHECK(read.of_variants == written.of_variants);
    DOCTEST_CHECK(read.of_shuffled == written.of_shuffled);
    DOCTEST_CHECK(read.of_largest == written.of_largest);
    EffectBackground old = written;  // as earlier versions wrote it
    old.of_largest.clear();
    outputs::write_background(folder / "old.h5", Overwrite::refuse, old);
    DOCTEST_CHECK(outputs::read_background(folder / "old.h5").of_largest.empty());
    const auto refused = [&](const std::filesystem::path& path) {
        const std::string message = message_of<InputError>([&] { outputs::read_background(path); });
        DOCTEST_CHECK(message.find("is no background of effects, or damaged") != std::string::npos);
    };
    write_file(folder / "text.h5", "no HDF5");
    refused(folder / "text.h5");
    const std::string bytes = read_file(folder / "b.h5");
    write_file(folder / "cut.h5", bytes.substr(0, bytes.size() / 2));
    refused(folder / "cut.h5");
    using Figure = EffectBackground::Figure;
    EffectBackground peaks = written;
    peaks.peaks = 3;
    peaks.of_peaks = {1, 2, 2};
    peaks.of_models = outputs::quantiles_of({1, 2, 3}, peaks.levels);
    const std::vector<float> distances = outputs::quantiles_of({4, 5, 6}, peaks.levels);
    peaks.of_models.insert(peaks.of_models.end(), distances.begin(), distances.end());
    outputs::write_background(folder / "peaks.h5", Overwrite::refuse, peaks);
    DOCTEST_CHECK(outputs::read_background(folder / "peaks.h5").of_peaks == peaks.of_peaks);
    DOCTEST_CHECK(outputs::read_background(folder / "peaks.h5").peaks_of(0, 0)[2] == 2);
    const EffectBackground both = outputs::read_background(folder / "peaks.h5");
    DOCTEST_CHECK(both.p_of_model(Figure::log2_fold_change, 0, 0, -3.5) == doctest::Approx(0.25));
    DOCTEST_CHECK(both.p_of_model(Figure::jsd, 0, 0, 3.5) == 1);
    DOCTEST_CHECK(std::isnan(both.p_of_model(Figure::jsd, 0, 0, NAN)));
    DOCTEST_CHECK(read.peaks == 0);
    DOCTEST_CHECK(read.peaks_of(0, 0).empty());
    for (const std::vector<float>& reads :
         {std::vector<float>{2, 1, 2}, std::vector<float>{1, 2, none}, std::vector<float>(6, 1)}) {
        peaks.of_peaks = reads;  // not ascending, no number, of two models
        outputs::write_background(folder / "bad.h5", Overwrite::allow, peaks);
        refused(folder / "bad.h5");
    }
    peaks.of_peaks = {1, 2, 2};
    peaks.run = {{"task", "chromatin"}};  // of no model
    outputs::write_background(folder / "bad.h5", Overwrite::allow, peaks);
    refused(folder / "bad.h5");
    EffectBackground unsorted = written;
    std::swap(unsorted.of_variants.front(), unsorted.of_variants.back());
    outputs::write_background(folder / "unsorted.h5", Overwrite::refuse, unsorted);
    refused(folder / "unsorted.h5");
    unsorted = written;
    std::swap(unsorted.levels.front(), unsorted.levels.back());
    outputs::write_background(folder / "levels.h5", Overwrite::refuse, unsorted);
    refused(folder / "levels.h5");
}
