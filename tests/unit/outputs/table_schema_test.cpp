// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/table_schema.hpp"

#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("schema: columns know their labels, and repeated names are told apart") {
    const outputs::TableSchema schema = testing::small_layout();
    DOCTEST_REQUIRE(schema.columns.size() == 2);
    DOCTEST_CHECK(schema.columns[0].name == "K562|CTCF");
    DOCTEST_CHECK(schema.columns[1].name == "002_A_B");
    DOCTEST_CHECK(schema.columns[1].label == "A|B");
    DOCTEST_CHECK(schema.columns[1].index == 2);
    DOCTEST_CHECK(schema.columns[0].id == "000_K562_CTCF");
}

DOCTEST_TEST_CASE("schema: a region's fields are of the kinds that its head says") {
    const auto head = outputs::region_head();
    const auto fields = rows::fields_of({.where = {"1", 2, 3}});
    DOCTEST_REQUIRE(head.size() == fields.size());
    for (std::size_t i = 0; i < head.size(); ++i) {
        const auto kind = std::holds_alternative<std::int64_t>(fields[i]) ? outputs::FieldKind::integer
                          : std::holds_alternative<double>(fields[i])     ? outputs::FieldKind::real
                                                                          : outputs::FieldKind::text;
        DOCTEST_CHECK(head[i].kind == kind);
        DOCTEST_CHECK(head[i].name == rows::region_columns[i]);
    }
}
