// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/tokens_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using task_models::FinetuneTokensSpec;

DOCTEST_TEST_CASE("tokens_spec: a window is what fits, and margins are an eighth of it") {
    FinetuneTokensSpec spec;
    DOCTEST_CHECK(spec.window_bases(900) == 900);
    DOCTEST_CHECK(spec.margin_bases(900) == 112);
    spec.window = 400;
    spec.margin = 0;
    DOCTEST_CHECK(spec.window_bases(900) == 400);
    DOCTEST_CHECK(spec.margin_bases(400) == 0);
    DOCTEST_CHECK(message_of<ConfigError>([&] { spec.window_bases(399); }) ==
                  "--window 400: the model's positions hold the tokens of 399 bases");
}

DOCTEST_TEST_CASE("tokens_spec: what does not go together is refused") {
    FinetuneTokensSpec spec;
    const auto refusal = [&] { return message_of<ConfigError>([&] { spec.validate(); }); };
    DOCTEST_CHECK(refusal() == "--model is needed: the pretrained model to start from");
    spec.pretrained = "model";
    spec.window = 100;
    spec.margin = 50;
    DOCTEST_CHECK(refusal() == "--margin 50 leaves nothing of a window of 100 bases");
    spec.margin = 49;
    spec.none_label = "";
    DOCTEST_CHECK(refusal() == "--none-label must be a word without tabs and line breaks");
    spec.none_label = "other";
    spec.validate();
}

DOCTEST_TEST_CASE("tokens_spec: the learning rate follows the network's width, or is what was given") {
    FinetuneTokensSpec spec;
    DOCTEST_CHECK(spec.peak_of(128) == doctest::Approx(1e-3));
    DOCTEST_CHECK(spec.peak_of(768) == doctest::Approx(0.128 / 768));
    spec.learning_rate.peak = 5e-5;
    DOCTEST_CHECK(spec.peak_of(128) == 5e-5);
}
