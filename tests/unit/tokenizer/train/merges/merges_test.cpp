// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/train/merges/merge_slice.hpp"
#include "bigbird/tokenizer/train/merges/pair_table.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

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

namespace {

/// What ranks first, by looking at every pair.
std::optional<std::uint32_t> best_of_all(PairTable& table, const std::vector<std::string>& texts) {
    std::optional<std::uint32_t> best;
    const auto rank = [&](const SymbolPair& pair) {
        const std::string text = texts[pair.left] + texts[pair.right];
        return std::tuple(-static_cast<std::int64_t>(pair.count), text.size(), text, pair.order);
    };
    for (std::uint32_t number = 0; number < table.numbers_end(); ++number)
        if (table.at(number).kept && (!best || rank(table.at(number)) < rank(table.at(*best)))) best = number;
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
            if (!table.find(left, right))
                table.insert(left, right, static_cast<std::uint64_t>(rng.between(1, most)));
        };
        for (int i = 0; i < 600; ++i)
            add();
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
            if (round % 5 == 0) add();
        }
        DOCTEST_CHECK(wrong == 0);
    }
}

namespace {

/// Pairs counted one by one; of a run of one symbol the first, third, … alone where they may not overlap.
std::string plain_census(const std::vector<std::string>& stretches, OverlapCounting counting,
                         std::uint64_t threshold) {
    std::map<std::tuple<Symbol, Symbol, Symbol>, std::uint64_t> counts;
    for (const std::string& stretch : stretches) {
        bool skipped = true;
        for (std::size_t i = 0; i + 1 < stretch.size(); ++i) {
            const Symbol left = symbol_of_letter(stretch[i]), right = symbol_of_letter(stretch[i + 1]);
            const bool run_goes_on = i > 0 && stretch[i - 1] == stretch[i] && left == right;
            skipped = counting == OverlapCounting::alternate && run_goes_on && !skipped;
            if (!skipped) ++counts[{std::max(left, right), left, right}];
        }
    }
    std::string text;
    for (const auto& [key, count] : counts) {
        if (count >= threshold) {
            text += {letter_of_symbol(std::get<1>(key)), letter_of_symbol(std::get<2>(key))};
            text += std::to_string(count) + " ";
        }
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/pair_census: what counting one by one finds, on texts with runs") {
    bigbird::Rng rng(81);
    for (const std::string letters : {"A", "AC", "AAAC", "ACGTN"}) {
        const std::vector<std::string> texts = bigbird::testing::random_texts(rng, letters, 40, 5);
        for (const OverlapCounting counting : {OverlapCounting::every, OverlapCounting::alternate}) {
            for (const std::size_t members : {1U, 3U}) {
                TokenArray array;
                std::vector<std::size_t> begins;
                for (const std::string& text : texts) {
                    begins.push_back(array.size());
                    bigbird::testing::append_letters(array, text);
                }
                begins.push_back(array.size());
                const std::vector<std::uint16_t> lengths(TokenArray::letters, 1);
                std::vector<MergeSlice> slices;
                for (std::size_t i = 0; i < members; ++i) {
                    const std::size_t from = begins[texts.size() * i / members],
                                      to = begins[texts.size() * (i + 1) / members];
                    slices.emplace_back(std::span(array.data() + from, to - from), lengths, counting);
                }
                ThreadTeam team(members);
                for (const std::uint64_t threshold : {1U, 20U}) {
                    std::string found;
                    for (const CountedPair& pair :
                         count_pairs(slices, team, threshold, [](Symbol, Symbol) { return true; })) {
                        found += {letter_of_symbol(pair.left), letter_of_symbol(pair.right)};
                        found += std::to_string(pair.count) + " ";
                    }
                    DOCTEST_CHECK(found == plain_census(texts, counting, threshold));
                }
            }
        }
    }
}

namespace {

struct Scene {
    explicit Scene(const std::string& dna, OverlapCounting counting) {
        bigbird::testing::append_letters(array, dna);
        slice.emplace_back(std::span(array.data() + 1, array.size() - 1), lengths, counting);
    }
    PositionList places_of(Symbol left, Symbol right) {
        PositionList list(memory);
        slice[0].for_each_pair([&](Symbol l, Symbol r, std::uint64_t position) {
            if (l == left && r == right) list.push_back(position);
        });
        return list;
    }
    std::string tokens() {
        std::string text;
        std::size_t position = 1;
        while (array.data()[position] != TokenArray::separator) {
            const Symbol symbol = array.data()[position];
            text += (text.empty() ? "" : " ") + std::to_string(symbol);
            position += lengths[symbol];
        }
        return text;
    }
    std::vector<std::uint64_t> read(const PositionList& list) {
        std::vector<std::uint64_t> positions;
        list.for_each(array.data() + 1, 2, [&](std::uint64_t position) { positions.push_back(position); });
        return positions;
    }

    ListMemory memory;
    TokenArray array;
    std::vector<std::uint16_t> lengths{1, 1, 1, 1, 1};
    std::vector<MergeSlice> slice;
};

using Symbols = std::vector<Symbol>;

Symbols merge_plainly(const Symbols& symbols, const MergeRule& rule) {
    Symbols merged;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const bool found = i + 1 < symbols.size() && symbols[i] == rule.left && symbols[i + 1] == rule.right;
        merged.push_back(found ? rule.merged : symbols[i]);
        i += found ? 1 : 0;
    }
    return merged;
}

std::string spell(const Symbols& symbols) {
    std::string text;
    for (const Symbol symbol : symbols)
        text += (text.empty() ? "" : " ") + std::to_string(symbol);
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/merge_slice: merge after merge on real sequence, as one by one") {
    const std::string dna = bigbird::testing::real_sentences().front();
    Scene scene(dna, OverlapCounting::every);
    Symbols plain;
    for (const char letter : dna)
        plain.push_back(symbol_of_letter(letter));
    // The pairs to come are listed by the merge before them, never by looking at all again.
    Symbol left = 0, right = 0;  // A and A
    PositionList positions = scene.places_of(left, right);
    for (int round = 0; round < 8; ++round) {
        const auto merged = static_cast<Symbol>(scene.lengths.size());
        const MergeRule rule{left, right, merged};
        scene.lengths.push_back(static_cast<std::uint16_t>(scene.lengths[left] + scene.lengths[right]));
        NeighbourCounts counts(scene.lengths.size());
        scene.slice[0].merge(positions, rule, counts);
        plain = merge_plainly(plain, rule);
        DOCTEST_REQUIRE(scene.tokens() == spell(plain));
        // The commonest symbol behind the merged one makes the next pair.
        std::vector<std::uint64_t> behind(scene.lengths.size());
        for (std::size_t i = 0; i + 1 < plain.size(); ++i)
            behind[plain[i + 1]] += plain[i] == merged;
        const auto next =
            static_cast<Symbol>(std::max_element(behind.begin(), behind.end() - 1) - behind.begin());
        PositionList listed(scene.memory);
        NewLists lists(scene.lengths.size());
        lists.right[next] = &listed;
        scene.slice[0].list_neighbours(rule, lists);
        const PositionList expected = scene.places_of(merged, next);
        DOCTEST_CHECK(scene.read(listed) == scene.read(expected));
        DOCTEST_CHECK(scene.slice[0].count(listed, merged, next) == behind[next]);
        left = merged;
        right = next;
        positions = std::move(listed);
    }
}
