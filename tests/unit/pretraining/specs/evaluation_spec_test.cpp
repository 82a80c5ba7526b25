// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/specs/evaluation_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::pretraining;

DOCTEST_TEST_CASE("evaluation_spec: held-out sequence is needed") {
    MlmEvaluationSpec spec;
    spec.baseline.documents = "train.txt";
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { spec.validate(); }) ==
                  "--documents is needed: held-out sequence to score");
    spec.held_out.documents = "held_out.txt";
    DOCTEST_CHECK_NOTHROW(spec.validate());
    spec.held_out = {.corpus = "shards"};
    DOCTEST_CHECK_NOTHROW(spec.validate());
}
