// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"

#include "support/testing.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/learnt_symbols: letters are there, each merge is a symbol and a piece") {
    LearntSymbols symbols(4);
    DOCTEST_CHECK(symbols.size() == 5);
    DOCTEST_CHECK(symbols.merges() == 0);
    DOCTEST_CHECK(symbols.texts == std::vector<std::string>{"A", "C", "G", "T", "N"});
    const Symbol ac = symbols.add(0, 1, 90), gt = symbols.add(2, 3, 80), acgt = symbols.add(ac, gt, 7);
    DOCTEST_CHECK(ac == 5);
    DOCTEST_CHECK(acgt == 7);
    DOCTEST_CHECK(symbols.texts[acgt] == "ACGT");
    DOCTEST_CHECK(symbols.lengths[acgt] == 4);
    DOCTEST_CHECK(symbols.widths[acgt] == 4);
    DOCTEST_CHECK(symbols.parts[acgt] == std::pair(ac, gt));
    DOCTEST_CHECK(symbols.parts[3] == std::pair(Symbol{3}, Symbol{3}));
    DOCTEST_CHECK(symbols.merges() == 3);
    DOCTEST_CHECK(symbols.pieces[2].text == "ACGT");
    DOCTEST_CHECK(symbols.pieces[2].frequency == 7);
    DOCTEST_CHECK(symbols.find("GT") == gt);
    DOCTEST_CHECK(!symbols.find("TG"));
}

DOCTEST_TEST_CASE("tokenizer/learnt_symbols: what may be merged is short enough and new by its text") {
    LearntSymbols symbols(3);
    const Symbol ac = symbols.add(0, 1, 9), ca = symbols.add(1, 0, 8), aca = symbols.add(ac, 0, 7);
    DOCTEST_CHECK(symbols.short_enough(ac, 0));
    DOCTEST_CHECK_FALSE(symbols.short_enough(ac, ca));
    DOCTEST_CHECK_FALSE(symbols.short_enough(aca, 0));
    DOCTEST_CHECK(symbols.is_known(0, ca));  // ACA by another split
    DOCTEST_CHECK(symbols.is_known(ac, 0));
    DOCTEST_CHECK_FALSE(symbols.is_known(ca, 0));
}

DOCTEST_TEST_CASE("tokenizer/learnt_symbols: once tokens are packed, each takes one position") {
    LearntSymbols symbols(16);
    const Symbol ac = symbols.add(0, 1, 9);
    symbols.narrow();
    DOCTEST_CHECK(symbols.widths[ac] == 1);
    DOCTEST_CHECK(symbols.lengths[ac] == 2);
    const Symbol acac = symbols.add(ac, ac, 8), more = symbols.add(acac, 0, 7);
    DOCTEST_CHECK(symbols.widths[acac] == 2);
    DOCTEST_CHECK(symbols.widths[more] == 3);
    DOCTEST_CHECK(symbols.lengths[more] == 5);
}
