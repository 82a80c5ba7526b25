// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/state/run_position.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("run_position: what a checkpoint says is what was put into it") {
    const RunPosition position{.step = 7,
                               .skipped = 2,
                               .skipped_in_a_row = 1,
                               .last_loss = 0.5,
                               .best_step = 4,
                               .best_value = 0.25,
                               .evaluations_since_best = 3,
                               .evaluation = {{"loss", 0.25}},
                               .complete = false,
                               .evaluation_due = true};
    const Json state{{"step", 7}, {"progress", position.to_json()}};
    const RunPosition read = position_of(state, "run");
    DOCTEST_CHECK(read.to_json() == position.to_json());
    DOCTEST_CHECK(read.step == 7);
    DOCTEST_CHECK(position_of({{"step", 3}}, "run").to_json() == RunPosition{.step = 3}.to_json());
}

DOCTEST_TEST_CASE("run_position: counts that no run has, and values of another kind, are refused") {
    for (const char* text :
         {R"({"step": 18446744073709551615})", R"({"step": 1000000000000001})", R"({"step": "7"})", R"({})",
          R"([7])", R"({"step": 7, "progress": 7})", R"({"step": 7, "progress": {"skipped_steps": -1}})",
          R"({"step": 7, "progress": {"skipped_in_a_row": 9223372036854775807}})",
          R"({"step": 7, "progress": {"best_step": -1}})", R"({"step": 7, "progress": {"best_step": 1e20}})",
          R"({"step": 7.5})", R"({"step": 7, "progress": {"skipped_steps": null}})",
          R"({"step": 7, "progress": {"complete": "no"}})"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(testing::message_of<InputError>([&] { position_of(Json::parse(text), "run"); }) ==
                      "run/training_state/state.json: is damaged: it does not say how far the run was");
    }
}
