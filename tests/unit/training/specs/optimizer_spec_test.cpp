// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/specs/optimizer_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("optimizer_spec: values out of range are named") {
    DOCTEST_CHECK_NOTHROW(OptimizerSpec{}.validate());
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { OptimizerSpec{.weight_decay = -0.1}.validate(); }) ==
                  "--weight-decay must not be negative");
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { OptimizerSpec{.clip_norm = -1}.validate(); }) ==
                  "--clip-norm must not be negative");
    DOCTEST_CHECK_THROWS_AS(OptimizerSpec{.beta2 = 1}.validate(), ConfigError);
    DOCTEST_CHECK_THROWS_AS(OptimizerSpec{.epsilon = 0}.validate(), ConfigError);
}

DOCTEST_TEST_CASE("optimizer_spec: whether the betas are the usual ones") {
    DOCTEST_CHECK(OptimizerSpec{.epsilon = 1e-8}.has_usual_betas());
    DOCTEST_CHECK_FALSE(OptimizerSpec{.beta1 = 0.8}.has_usual_betas());
    DOCTEST_CHECK_FALSE(OptimizerSpec{.beta2 = 0.98}.has_usual_betas());
}
