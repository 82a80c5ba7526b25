// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/pair_table.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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

namespace {

/// What ranks first, by looking at every pair.
std::optional<std::uint32_t> best_of_all(PairTable& table, const std::vector<std::string>& texts) {
    std::optional<std::uint32_t> best;
    const auto rank = [&](const SymbolPair& pair) {
        const std::string text = texts[pair.left] + texts[pair.right];
        return std::tuple(-static_cast<std::int64_t>(pair.count), text.size(), text, pair.order);
    };
    for (std::uint32_t number = 0; number < table.numbers_end(); ++number) {
        if (table.at(number).kept && (!best || rank(table.at(number)) < rank(table.at(*best)))) {
            best = number;
        }
    }
    return best;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/pair_table: the best pair, as looking at all finds it, while counts fall") {
    std::vector<std::string> texts;
    for (const char a : std::string("ACGT")) {
        for (const char b : std::string("ACGT")) {
            texts.push_back({a, b});
            texts.push_back({a, b, a});
        }
        texts.emplace_back(1, a);
    }
    for (const std::int64_t most : {3, 40, 100'000}) {  // nearly all equal, or nearly none
        bigbird::Rng rng(static_cast<std::uint64_t>(most));
        PairTable table(texts, 1);
        const auto add = [&] {
            const auto left =
                static_cast<Symbol>(rng.between(0, static_cast<std::int64_t>(texts.size()) - 1));
            const auto right =
                static_cast<Symbol>(rng.between(0, static_cast<std::int64_t>(texts.size()) - 1));
            if (!table.find(left, right)) {
                table.insert(left, right, static_cast<std::uint64_t>(rng.between(1, most)));
            }
        };
        for (int i = 0; i < 600; ++i) {
            add();
        }
        int wrong = 0;
        for (int round = 0; round < 1500 && table.size() > 0; ++round) {
            const auto expected = best_of_all(table, texts);
            wrong += table.best() != expected;
            const auto number = static_cast<std::uint32_t>(
                rng.between(0, static_cast<std::int64_t>(table.numbers_end()) - 1));
            if (round % 3 == 0) {
                table.erase(*expected);
            } else if (table.at(number).kept) {
                table.at(number).count = static_cast<std::uint64_t>(
                    rng.between(0, static_cast<std::int64_t>(table.at(number).count)));
            }
            if (round % 5 == 0) {
                add();
            }
        }
        DOCTEST_CHECK(wrong == 0);
    }
}

DOCTEST_TEST_CASE("tokenizer/pair_table: thousands of pairs come out in order") {
    std::vector<std::string> texts;
    for (int i = 0; i < 200; ++i) {
        texts.push_back(std::string(static_cast<std::size_t>(i % 5 + 1), "ACGT"[i % 4]) + std::to_string(i));
    }
    PairTable table(texts, 1);
    bigbird::Rng rng(9);
    for (Symbol left = 0; left < 200; ++left) {
        for (Symbol right = 0; right < 100; ++right) {
            table.insert(left, right, static_cast<std::uint64_t>(rng.between(1, 500)));
        }
    }
    DOCTEST_CHECK(table.size() == 20'000);
    using Rank = std::tuple<std::int64_t, std::size_t, std::string>;
    Rank last{INT64_MIN, 0, ""};
    std::size_t taken = 0, wrong = 0;
    while (const auto best = table.best()) {
        const SymbolPair& pair = table.at(*best);
        const std::string text = texts[pair.left] + texts[pair.right];
        const Rank rank{-static_cast<std::int64_t>(pair.count), text.size(), text};
        wrong += rank < last;
        last = rank;
        table.erase(*best);
        ++taken;
    }
    DOCTEST_CHECK(taken == 20'000);
    DOCTEST_CHECK(wrong == 0);
}
