// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/variant_spec.hpp"

#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("variant_spec: quantities are named, in the order asked for, each once") {
    const std::vector wanted{Quantity::log_odds, Quantity::ref};
    DOCTEST_CHECK((parse_quantities("log-odds,ref,log-odds") == wanted));
    DOCTEST_CHECK((parse_quantities("log_odds,ref") == wanted));
    DOCTEST_CHECK(parse_quantities(VariantSpec().quantities).size() == 4);
    DOCTEST_CHECK(to_string(Quantity::log_odds) == "log_odds");
}

DOCTEST_TEST_CASE("variant_spec: other quantities are refused") {
    VariantSpec spec;
    DOCTEST_CHECK_NOTHROW(spec.validate());
    spec.quantities = "ref,beta";
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { spec.validate(); }) ==
                  "--write takes ref, alt, difference and log-odds, separated by commas, not 'beta'");
}

DOCTEST_TEST_CASE("variant_spec: strands have the words that predict-* has, or none") {
    for (const auto& [strands, word] : strand_choices)
        DOCTEST_CHECK(parse_choice(variant_strand_choices, "--reverse-complement", word) == strands);
    DOCTEST_CHECK(word_of(variant_strand_choices, std::optional<Strands>()).empty());
}
