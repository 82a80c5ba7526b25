// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/layout.hpp"

#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("layout: columns know their labels, and repeated names are told apart") {
    const outputs::Layout layout = testing::small_layout();
    DOCTEST_REQUIRE(layout.columns.size() == 2);
    DOCTEST_CHECK(layout.columns[0].name == "K562|CTCF");
    DOCTEST_CHECK(layout.columns[1].name == "002_A_B");
    DOCTEST_CHECK(layout.columns[1].label == "A|B");
    DOCTEST_CHECK(layout.columns[1].index == 2);
    DOCTEST_CHECK(layout.columns[0].id == "000_K562_CTCF");
}

DOCTEST_TEST_CASE("layout: a region's fields stand in the order of its head") {
    const auto head = outputs::region_head();
    const auto fields = outputs::fields_of({"1", "2", "3", "n", ".", "+", "ok", 0.125});
    DOCTEST_REQUIRE(head.size() == fields.size());
    DOCTEST_CHECK(fields == std::vector<std::string>{"1", "2", "3", "n", ".", "+", "ok", "0.125"});
    DOCTEST_CHECK(head[1].kind == outputs::FieldKind::integer);
    DOCTEST_CHECK(head[7].kind == outputs::FieldKind::real);
}
