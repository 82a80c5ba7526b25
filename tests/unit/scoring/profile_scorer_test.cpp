// SPDX-License-Identifier: Apache-2.0
// Models of published files, each against float64 oracles (scripts/checks/make_profile_fixtures.py).
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

std::filesystem::path published_file(const std::string& name) {
    return test_data("models/profiles/" + name);
}

Json expected() {
    return read_json(published_file("expected.json")).at("files");
}

std::vector<ModelFolder> opened(const std::vector<std::string>& files,
                                std::optional<networks::Component> component = std::nullopt) {
    std::vector<std::filesystem::path> paths;
    for (const std::string& file : files)
        paths.push_back(published_file(file));
    return open_models(paths, examples::Task::chromatin, {.component = component});
}

std::vector<float> scores_of(RowScorer& scorer, const std::vector<std::string>& windows) {
    std::vector<rows::RegionRow> rows(windows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].sequence = windows[i];
    return scorer.score(scorer.prepare(rows, 1), {});
}

/// Reads of each group, then those of each base, from an oracle's log counts and logits.
std::vector<double> values_of(const std::vector<double>& log_counts, const std::vector<double>& logits,
                              const networks::ProfileShape& shape, double offset) {
    std::vector<double> values;
    for (const double count : log_counts)
        values.push_back(std::exp(count) - offset);
    const auto columns = static_cast<std::size_t>(shape.columns()),
               output = static_cast<std::size_t>(shape.output);
    std::size_t first = 0;
    for (std::size_t group = 0; group < shape.groups.size(); ++group) {
        const auto strands = static_cast<std::size_t>(shape.groups[group]);
        std::vector<double> bases;
        double sum = 0;
        for (std::size_t i = 0; i < output * strands; ++i) {
            bases.push_back(std::exp(logits[i / strands * columns + first + i % strands]));
            sum += bases.back();
        }
        for (const double base : bases)
            values.push_back(base / sum * values[group]);
        first += strands;
    }
    return values;
}

void check_values(const std::vector<float>& found, const std::vector<double>& wanted) {
    DOCTEST_REQUIRE(found.size() == wanted.size());
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double scale = std::max(1e-3, std::abs(wanted[i]));
        worst = std::max(worst, std::abs(static_cast<double>(found[i]) - wanted[i]) / scale);
    }
    DOCTEST_CHECK(worst < 1e-4);
}

}  // namespace

DOCTEST_TEST_CASE("profile_scorer: reads and profiles of every published form are the oracle's") {
    const Json files = expected();
    DOCTEST_REQUIRE(files.size() >= 10);
    for (const auto& [file, about] : files.items()) {
        const auto windows = about.at("windows").get<std::vector<std::string>>();
        for (const auto& [part, wanted] : about.items()) {
            if (part == "windows") continue;
            DOCTEST_CAPTURE(file);
            DOCTEST_CAPTURE(part);
            std::optional<networks::Component> component;
            if (!part.empty()) component = parse_choice(networks::component_words, "component", part);
            std::vector<ModelFolder> models = opened({file}, component);
            const networks::ProfileShape shape = profile_network(models.front())->shape();
            DOCTEST_CHECK(component_of(models.front().info).value_or("") == part);
            const double offset = count_offset(models.front().calibration.link);
            DOCTEST_CHECK(
                offset ==
                (file == "bpnet.h5" || file == "bpnet_plain.h5" || file == "basepairnet.torch" ? 2 : 1));
            const auto scorer = profile_scorer(std::move(models), Strands::none, 4096);
            std::vector<double> all;
            for (std::size_t i = 0; i < windows.size(); ++i) {
                const auto own = values_of(wanted.at("log_counts")[i], wanted.at("logits")[i], shape, offset);
                all.insert(all.end(), own.begin(), own.end());
            }
            check_values(scores_of(*scorer, windows), all);
        }
    }
}

DOCTEST_TEST_CASE("profile_scorer: over strands and folds, logits of profiles and reads are averaged") {
    const Json about = expected().at("chrombpnet.h5");
    const std::string window = about.at("windows")[0];
    const auto one = [&](networks::Component component, Strands strands) {
        return scores_of(*profile_scorer(opened({"chrombpnet.h5"}, component), strands, 4096), {window});
    };
    const std::vector<float> forward = one(networks::Component::nobias, Strands::none),
                             reverse = one(networks::Component::nobias, Strands::only),
                             both = one(networks::Component::nobias, Strands::average);
    DOCTEST_REQUIRE(both.size() == forward.size());
    DOCTEST_CHECK(forward != reverse);
    DOCTEST_CHECK(both[0] == doctest::Approx((forward[0] + reverse[0]) / 2));
    // Mean logits make geometric means of probabilities, up to their sum.
    double sum = 0, of_both = 0;
    std::vector<double> means;
    for (std::size_t i = 1; i < both.size(); ++i) {
        means.push_back(std::sqrt(static_cast<double>(forward[i]) * static_cast<double>(reverse[i])));
        sum += means.back();
        of_both += static_cast<double>(both[i]);
    }
    DOCTEST_CHECK(of_both == doctest::Approx(static_cast<double>(both[0])).epsilon(1e-5));
    for (std::size_t i = 0; i < means.size(); ++i)
        DOCTEST_CHECK(static_cast<double>(both[i + 1]) ==
                      doctest::Approx(means[i] / sum * static_cast<double>(both[0])).epsilon(1e-4));

    const std::vector<float> folds = scores_of(
        *profile_scorer(opened({"chrombpnet.h5", "chrombpnet_nobias.h5"}), Strands::none, 4096), {window});
    DOCTEST_CHECK(folds == forward);  // the same network twice
}

DOCTEST_TEST_CASE(
    "profile_scorer: without a component nobias is opened, and a part that is missing is an error") {
    DOCTEST_CHECK(component_of(opened({"chrombpnet.h5"}).front().info) == "nobias");
    DOCTEST_CHECK(component_of(opened({"bias.h5"}).front().info) == "bias");
    DOCTEST_CHECK(!component_of(opened({"cherimoya.torch"}).front().info));
    DOCTEST_CHECK_THROWS_AS(opened({"chrombpnet_nobias.h5"}, networks::Component::joined), ConfigError);
    DOCTEST_CHECK_THROWS_AS(opened({"bpnet.h5"}, networks::Component::nobias), ConfigError);
    DOCTEST_CHECK_THROWS_AS(profile_scorer(opened({"chrombpnet.h5", "bpnet.h5"}), Strands::none, 4096),
                            ConfigError);
}
