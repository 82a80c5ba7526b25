// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/specs/run_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("run_spec: what is recorded are the options that keep checkpoints, in a fixed order") {
    const RunSpec spec{.resume = "run", .checkpoint_every = 5, .keep = 2, .max_hours = 1};
    DOCTEST_CHECK(spec.settings().dump() == R"({"--checkpoint-every":5,"--keep":2})");
}

DOCTEST_TEST_CASE("optimizer_spec: values out of range are named") {
    DOCTEST_CHECK_NOTHROW(OptimizerSpec{}.validate());
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { OptimizerSpec{.weight_decay = -0.1}.validate(); }) ==
                  "--weight-decay must not be negative");
    DOCTEST_CHECK_THROWS_AS(OptimizerSpec{.beta2 = 1}.validate(), ConfigError);
    DOCTEST_CHECK_THROWS_AS(OptimizerSpec{.epsilon = 0}.validate(), ConfigError);
}

DOCTEST_TEST_CASE("schedule: the rate rises to its peak at the warm-up's end and falls towards 0") {
    const LearningRateSpec spec{.peak = 2.0, .warmup_steps = 4, .total_steps = 12, .decay = Decay::linear};
    const double expected[] = {0.5, 1.0, 1.5, 2.0};
    for (int step = 1; step <= 4; ++step)
        DOCTEST_CHECK(learning_rate(spec, step) == doctest::Approx(expected[step - 1]));
    for (int step = 4; step <= 12; ++step)
        DOCTEST_CHECK(learning_rate(spec, step) == doctest::Approx(2.0 * (13 - step) / 9.0));
    DOCTEST_CHECK(learning_rate(spec, 12) > 0);
}

DOCTEST_TEST_CASE("schedule: without warm-up the first step has the peak") {
    for (const Decay decay : {Decay::constant, Decay::linear, Decay::cosine}) {
        const LearningRateSpec spec{.peak = 0.1, .warmup_steps = 0, .total_steps = 5, .decay = decay};
        DOCTEST_CHECK(learning_rate(spec, 1) == doctest::Approx(0.1));
        DOCTEST_CHECK((learning_rate(spec, 5) < 0.1) == (decay != Decay::constant));
    }
}

DOCTEST_TEST_CASE("schedule: cosine is half the peak half way") {
    const LearningRateSpec spec{.peak = 1.0, .warmup_steps = 10, .total_steps = 29, .decay = Decay::cosine};
    DOCTEST_CHECK(learning_rate(spec, 10) == doctest::Approx(1.0));
    DOCTEST_CHECK(learning_rate(spec, 20) == doctest::Approx(0.5));
    DOCTEST_CHECK(learning_rate(spec, 25) == doctest::Approx(0.5 * (1 + std::cos(M_PI * 0.75))));
}

DOCTEST_TEST_CASE("schedule: words and values out of range are named") {
    DOCTEST_CHECK(word_of(decays, Decay::cosine) == "cosine");
    DOCTEST_CHECK(parse_choice(decays, "--schedule", "constant") == Decay::constant);
    DOCTEST_CHECK_THROWS_AS((LearningRateSpec{.peak = 0}.validate()), ConfigError);
    DOCTEST_CHECK_THROWS_AS((LearningRateSpec{.peak = std::nan("")}.validate()), ConfigError);
    DOCTEST_CHECK_THROWS_AS((LearningRateSpec{.warmup_steps = 3, .total_steps = 2}.validate()), ConfigError);
}

DOCTEST_TEST_CASE("schedule: a warm-up that is left open is a tenth of the steps, at most 10,000") {
    const LearningRateSpec open{.peak = 0.1, .warmup_steps = -1, .total_steps = 0};
    DOCTEST_CHECK(open.over(45).warmup_steps == 4);
    DOCTEST_CHECK(open.over(45).total_steps == 45);
    DOCTEST_CHECK(open.over(1'000'000).warmup_steps == 10'000);
    DOCTEST_CHECK(LearningRateSpec{.warmup_steps = 7}.over(45).warmup_steps == 7);
    DOCTEST_CHECK(LearningRateSpec{.warmup_steps = 0}.over(45).warmup_steps == 0);
}
