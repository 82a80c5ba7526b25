// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/predict_spec.hpp"

#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::task_models;

namespace {

PredictSpec whole_rows() {
    PredictSpec spec;
    spec.regions = "rows.bed";
    return spec;
}

std::string refusal(const PredictSpec& spec) {
    return testing::message_of<ConfigError>([&] { spec.validate(); });
}

}  // namespace

DOCTEST_TEST_CASE("predict_spec: rows come from regions or from examples") {
    DOCTEST_CHECK(refusal({}) == "--regions with --reference, or --examples, is needed");
    PredictSpec spec;
    spec.examples = "folder";
    DOCTEST_CHECK_NOTHROW(spec.validate());
    DOCTEST_CHECK_NOTHROW(whole_rows().validate());
}

DOCTEST_TEST_CASE("predict_spec: tiles are pooled, and whole rows have a summit") {
    PredictSpec spec = whole_rows();
    spec.pool = Pool::mean;
    DOCTEST_CHECK(refusal(spec) == "--pool needs tiles: give --tile or --scan");
    spec.tile = 200;
    DOCTEST_CHECK_NOTHROW(spec.validate());
    spec.anchor = rows::Anchor::summit;
    DOCTEST_CHECK(refusal(spec) ==
                  "--anchor summit is of whole rows, --tile cuts them: leave one of them out");
    spec.tile = 0;
    spec.pool = Pool::none;
    DOCTEST_CHECK_NOTHROW(spec.validate());
}

DOCTEST_TEST_CASE("predict_spec: every value of an option has its word") {
    DOCTEST_CHECK(word_of(pool_choices, Pool::max) == "max");
    DOCTEST_CHECK(parse_choice(strand_choices, "--reverse-complement", "only") == Strands::only);
    DOCTEST_CHECK(parse_choice(anchor_choices, "--anchor", "summit") == rows::Anchor::summit);
    DOCTEST_CHECK(parse_choice(split_choices, "--split", "test") == examples::Split::test);
    DOCTEST_CHECK(parse_choice(split_choices, "--split", "all") == std::nullopt);
    for (const auto& [split, word] : split_choices)
        if (split) DOCTEST_CHECK(word == to_string(*split));
}
