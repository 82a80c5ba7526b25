// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/pair_table.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

std::string best_text(PairTable& table, const std::vector<std::string>& texts) {
    const auto best = table.best();
    if (!best) {
        return "none";
    }
    const SymbolPair& pair = table.at(*best);
    return texts[pair.left] + "+" + texts[pair.right];
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/pair_table: frequent, then short, then alphabetic, then old") {
    const std::vector<std::string> texts{"A", "C", "G", "T", "N", "AA", "CA", "AAA"};
    PairTable table(texts, 2);
    const auto rare = table.insert(0, 1, 3);
    table.insert(5, 1, 5);                      // AA+C
    const auto first = table.insert(3, 0, 5);   // T+A
    const auto second = table.insert(1, 0, 5);  // C+A
    const auto older = table.insert(5, 5, 4);   // AA+AA
    const auto newer = table.insert(0, 7, 4);   // A+AAA
    const std::vector<std::string> order{"C+A", "T+A", "AA+C", "AA+AA", "A+AAA", "A+C", "none"};
    std::vector<std::string> found;
    for (std::size_t i = 0; i < order.size(); ++i) {
        found.push_back(best_text(table, texts));
        if (const auto best = table.best()) {
            table.erase(*best);
        }
    }
    DOCTEST_CHECK(found == order);
    DOCTEST_CHECK(table.size() == 0);
    (void)rare, (void)first, (void)second, (void)older, (void)newer;
}

DOCTEST_TEST_CASE("tokenizer/pair_table: counts fall, numbers are used again") {
    const std::vector<std::string> texts{"A", "C", "G", "T", "N"};
    PairTable table(texts, 2);
    const auto a = table.insert(0, 0, 9);
    table.insert(1, 1, 8);
    DOCTEST_CHECK(best_text(table, texts) == "A+A");
    DOCTEST_CHECK(table.positions(a, 1).empty());
    table.at(a).count = 7;
    DOCTEST_CHECK(best_text(table, texts) == "C+C");
    table.erase(*table.best());
    const auto again = table.insert(2, 2, 1);
    DOCTEST_CHECK(best_text(table, texts) == "A+A");
    DOCTEST_CHECK(table.find(2, 2) == again);
    DOCTEST_CHECK(!table.find(1, 1));
}

DOCTEST_TEST_CASE("tokenizer/pair_table: finds what a map finds through many insertions and erasures") {
    const std::vector<std::string> texts(300, "A");
    PairTable table(texts, 2);
    std::map<std::pair<Symbol, Symbol>, std::uint32_t> expected;
    bigbird::Rng rng(3);
    for (int i = 0; i < 60'000; ++i) {
        const std::pair key(static_cast<Symbol>(rng.between(0, 299)),
                            static_cast<Symbol>(rng.between(0, 40)));
        if (const auto known = expected.find(key); known != expected.end()) {
            table.erase(known->second);
            expected.erase(known);
        } else {
            expected[key] = table.insert(key.first, key.second, 1);
        }
    }
    DOCTEST_CHECK(table.size() == expected.size());
    bool same = true;
    for (Symbol left = 0; left < 300; ++left) {
        for (Symbol right = 0; right <= 40; ++right) {
            const auto known = expected.find({left, right});
            const auto found = table.find(left, right);
            same =
                same && found.has_value() == (known != expected.end()) && (!found || *found == known->second);
        }
    }
    DOCTEST_CHECK(same);
}

DOCTEST_TEST_CASE("tokenizer/pair_table: counts by rank") {
    const std::vector<std::string> texts(10, "A");
    PairTable table(texts, 2);
    for (Symbol symbol = 0; symbol < 10; ++symbol) {
        table.insert(symbol, 0, 100U + symbol * 7U % 10U);
    }
    DOCTEST_CHECK(table.made() == 10);
    DOCTEST_CHECK(table.ranked_count(0) == 109);
    DOCTEST_CHECK(table.ranked_count(3) == 106);
    DOCTEST_CHECK(table.ranked_count(9) == 100);
}
