// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/specs/run_spec.hpp"

#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("run_spec: what is recorded are the options that keep checkpoints, in a fixed order") {
    const RunSpec spec{.resume = "never", .checkpoint_every = 5, .keep = 2, .keep_every = 10, .max_hours = 1};
    DOCTEST_CHECK(spec.settings().dump() == R"({"--checkpoint-every":5,"--keep":2,"--keep-every":10})");
}
