// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/features/random_features.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <cmath>
#include <numeric>
#include <span>

using namespace bigbird::attention;
using bigbird::ConfigError;
using bigbird::Rng;
using bigbird::testing::message_of;

namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::span<const double> row_of(const Vector& rows, std::size_t row, std::size_t width) {
    return std::span(rows).subspan(row * width, width);
}

/// The paper's estimate of exp(q.k): the mean over rows of exp(w.q - |q|^2 / 2) exp(w.k - |k|^2 / 2).
double estimate(const Vector& rows, const Vector& q, const Vector& k) {
    const std::size_t width = q.size(), count = rows.size() / width;
    double sum = 0;
    for (std::size_t row = 0; row < count; ++row) {
        const auto w = row_of(rows, row, width);
        sum += std::exp(dot(w, q) + dot(w, k) - (dot(q, q) + dot(k, k)) / 2);
    }
    return sum / static_cast<double>(count);
}

struct Error {
    double bias, root_mean_square;
};

/// Of the mean of `draws` draws against exp(q.k), relative to it, over `trials` such means.
Error error_of(FeatureSpec spec, int draws, int trials) {
    const Vector q{0.5, -0.3, 0.2, 0.6, -0.1, 0.4, 0.1, -0.2}, k{0.4, 0.1, -0.5, 0.3, 0.2, 0.3, -0.4, 0.1};
    const double exact = std::exp(dot(q, k));
    double sum = 0, squares = 0;
    for (int trial = 0; trial < trials; ++trial) {
        double mean = 0;
        for (int draw = 0; draw < draws; ++draw, ++spec.redraw)
            mean += estimate(draw_features(spec, 0, 8), q, k) / draws;
        sum += mean / exact - 1;
        squares += (mean / exact - 1) * (mean / exact - 1);
    }
    return {sum / trials, std::sqrt(squares / trials)};
}

}  // namespace

DOCTEST_TEST_CASE(
    "random_features: orthogonal rows stand at right angles, block by block, and are as long as Gaussian "
    "ones") {
    const std::size_t width = 16;
    const FeatureSpec spec{.features = 1000, .seed = 3};  // the last block is cut
    const Vector rows = draw_features(spec, 1, width);
    DOCTEST_REQUIRE(rows.size() == 1000 * width);
    double worst = 0, squares = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        squares += dot(row_of(rows, i, width), row_of(rows, i, width));
        for (std::size_t j = i / width * width; j < i; ++j)
            worst = std::max(worst, std::abs(dot(row_of(rows, i, width), row_of(rows, j, width))));
    }
    DOCTEST_CHECK(worst < 1e-12);
    // |w|^2 has the mean 16 and the deviation sqrt(32), that of 1000 rows a thirtieth.
    DOCTEST_CHECK(std::abs(squares / 1000 - 16) < 4 * std::sqrt(32.0 / 1000));
    DOCTEST_CHECK(squares / 1000 != 16);  // lengths are drawn
}

DOCTEST_TEST_CASE("random_features: numbers of both kinds are standard normal") {
    for (const bool orthogonal : {true, false}) {
        const Vector rows = draw_features({.features = 4096, .orthogonal = orthogonal, .seed = 1}, 0, 8);
        const auto count = static_cast<double>(rows.size());
        double mean = 0, square = 0, fourth = 0;
        for (const double x : rows) {
            mean += x / count;
            square += x * x / count;
            fourth += x * x * x * x / count;
        }
        DOCTEST_CHECK(std::abs(mean) < 4 / std::sqrt(count));
        DOCTEST_CHECK(std::abs(square - 1) < 4 * std::sqrt(2 / count));
        DOCTEST_CHECK(std::abs(fourth - 3) < 4 * std::sqrt(96 / count));
    }
}

DOCTEST_TEST_CASE(
    "random_features: a draw follows from seed, layer and its number, and fewer features are the first of "
    "more") {
    const FeatureSpec spec{.features = 24, .seed = 5};
    const Vector drawn = draw_features(spec, 2, 8);
    DOCTEST_CHECK(draw_features(spec, 2, 8) == drawn);
    DOCTEST_CHECK(draw_features(spec, 3, 8) != drawn);
    FeatureSpec other = spec;
    other.redraw = 1;
    DOCTEST_CHECK(draw_features(other, 2, 8) != drawn);
    other = spec;
    other.seed = 6;
    DOCTEST_CHECK(draw_features(other, 2, 8) != drawn);
    other = spec;
    other.kernel = FeatureKernel::relu;
    other.redraw_every = 7;
    DOCTEST_CHECK(draw_features(other, 2, 8) == drawn);
    other = spec;
    other.features = 13;
    const Vector fewer = draw_features(other, 2, 8);
    DOCTEST_CHECK(std::equal(fewer.begin(), fewer.end(), drawn.begin()));
}

DOCTEST_TEST_CASE("random_features: the numbers that files of models mean, as docs/transformers draws them") {
    const FeatureSpec spec{.features = 3, .seed = 7, .redraw = 4};
    const Vector expected{-0.6180274390531065, -0.6645382265156955,  -0.22592492093198513,
                          0.21011251833316852, -0.19891196168046962, -0.04662833110219811};
    const Vector drawn = draw_features(spec, 1, 2);
    DOCTEST_REQUIRE(drawn.size() == expected.size());
    for (std::size_t i = 0; i < drawn.size(); ++i)
        DOCTEST_CHECK(drawn[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

DOCTEST_TEST_CASE("random_features: the mean over draws tends to exp(q.k) like 1 / sqrt(draws)") {
    for (const bool orthogonal : {true, false}) {
        const FeatureSpec spec{.features = 8, .orthogonal = orthogonal, .seed = 11};
        const Error one = error_of(spec, 1, 2000), many = error_of(spec, 16, 500);
        DOCTEST_CHECK(std::abs(one.bias) < 4 * one.root_mean_square / std::sqrt(2000.0));
        DOCTEST_CHECK(std::abs(many.bias) < 4 * many.root_mean_square / std::sqrt(500.0));
        DOCTEST_CHECK(one.root_mean_square / many.root_mean_square == doctest::Approx(4).epsilon(0.2));
    }
}

DOCTEST_TEST_CASE(
    "random_features: the error falls with the features, and is smaller if they are orthogonal") {
    double last = 1e9;
    for (const std::int64_t features : {8, 32, 128}) {
        const Error orthogonal = error_of({.features = features, .seed = 2}, 1, 4000),
                    independent = error_of({.features = features, .orthogonal = false, .seed = 2}, 1, 4000);
        DOCTEST_CHECK(orthogonal.root_mean_square < independent.root_mean_square);
        DOCTEST_CHECK(orthogonal.root_mean_square < 0.75 * last);
        last = orthogonal.root_mean_square;
    }
}

DOCTEST_TEST_CASE("random_features: steps of pretraining and their draws") {
    FeatureSpec spec{.redraw_every = 3};
    std::vector<std::int64_t> draws;
    for (std::int64_t step = 1; step <= 7; ++step)
        draws.push_back(spec.redraw_at(step));
    DOCTEST_CHECK(draws == std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2});
    spec.redraw = 5;  // where a run goes on with the features of another's end
    DOCTEST_CHECK(spec.redraw_at(4) == 6);
    spec.redraw_every = 0;
    DOCTEST_CHECK(spec.redraw_at(1'000'000) == 5);
}

DOCTEST_TEST_CASE("random_features: what does not fit is named") {
    const auto message = [](const FeatureSpec& spec) {
        return message_of<ConfigError>([&] { spec.validate(); });
    };
    DOCTEST_CHECK(message({.features = 0}) == "performer: features must be between 1 and 65536, not 0");
    DOCTEST_CHECK(message({.features = 65537}) ==
                  "performer: features must be between 1 and 65536, not 65537");
    DOCTEST_CHECK(message({.redraw_every = -1}) == "performer: redraw_every must not be negative: -1");
    DOCTEST_CHECK(message({.redraw = -2}) == "performer: redraw must not be negative: -2");
    DOCTEST_CHECK_NOTHROW(FeatureSpec{}.validate());
}
