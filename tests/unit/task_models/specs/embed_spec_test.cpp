// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/embed_spec.hpp"

#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("embed_spec: regions or sequences are embedded, and vectors are no track") {
    EmbedSpec spec;
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { spec.validate(); }) ==
                  "--regions with --reference, or --sequences, is needed");
    spec.sequences = "s.fa";
    DOCTEST_CHECK_NOTHROW(spec.validate());
    spec.sequences.clear();
    spec.regions = "rows.bed";
    DOCTEST_CHECK_NOTHROW(spec.validate());
    DOCTEST_CHECK_FALSE(spec.outputs.tracks);
    DOCTEST_CHECK(word_of(embed_pooling_choices, EmbedPooling::token) == "token");
}
