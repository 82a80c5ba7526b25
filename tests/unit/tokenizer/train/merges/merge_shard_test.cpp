// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/merge_shard.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

struct Scene {
    explicit Scene(const std::string& dna, OverlapCounting counting, std::size_t most_remembered) {
        array.append(dna);
        shard.emplace_back(std::span(array.data() + 1, array.size() - 1), lengths, counting, most_remembered);
    }
    PositionList places_of(Symbol left, Symbol right) {
        PositionList list(memory);
        shard[0].for_each_pair([&](Symbol l, Symbol r, std::uint64_t position) {
            if (l == left && r == right) {
                list.push_back(position);
            }
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
        for_each_position(list, array.data() + 1, 2,
                          [&](std::uint64_t position) { positions.push_back(position); });
        return positions;
    }

    ListMemory memory;
    TokenArray array;
    std::vector<std::uint16_t> lengths{1, 1, 1, 1, 1};
    std::vector<MergeShard> shard;
};

constexpr Symbol A = 0, C = 1, G = 2, T = 3;

}  // namespace

DOCTEST_TEST_CASE("tokenizer/merge_shard: merges from left to right and counts the neighbours") {
    for (const std::size_t most_remembered : std::vector<std::size_t>{0, 2, 3}) {
        Scene scene("GACACTACC", OverlapCounting::every, most_remembered);
        const PositionList positions = scene.places_of(A, C);
        DOCTEST_CHECK(scene.read(positions) == std::vector<std::uint64_t>{1, 3, 6});
        DOCTEST_CHECK(scene.shard[0].count(positions, A, C) == 3);
        scene.lengths.push_back(2);
        NeighbourCounts counts(6);
        scene.shard[0].merge(positions, {A, C, 5}, counts);
        DOCTEST_CHECK(scene.tokens() == "2 5 5 3 5 1");
        DOCTEST_CHECK(counts.left[G] == 1);
        DOCTEST_CHECK(counts.left[T] == 1);
        DOCTEST_CHECK(counts.right[A] == 1);  // the first C stood beside an A that was merged in its turn
        DOCTEST_CHECK(counts.right[T] == 1);
        DOCTEST_CHECK(counts.right[C] == 1);
        DOCTEST_CHECK(counts.merged_twice == 1);
        PositionList before_g(scene.memory), behind_c(scene.memory), twice(scene.memory);
        NewLists lists(6);
        lists.left[G] = &before_g;
        lists.right[C] = &behind_c;
        lists.merged_twice = &twice;
        scene.shard[0].list_neighbours(positions, {A, C, 5}, lists);
        DOCTEST_CHECK(scene.read(before_g) == std::vector<std::uint64_t>{0});
        DOCTEST_CHECK(scene.read(behind_c) == std::vector<std::uint64_t>{6});
        DOCTEST_CHECK(scene.read(twice) == std::vector<std::uint64_t>{1});
        DOCTEST_CHECK(scene.shard[0].count(positions, A, C) == 0);
        counts.clear();
        DOCTEST_CHECK(counts.right[C] == 0);
    }
}

DOCTEST_TEST_CASE("tokenizer/merge_shard: a run of one base") {
    for (const OverlapCounting counting : {OverlapCounting::every, OverlapCounting::alternate}) {
        for (const std::size_t most_remembered : std::vector<std::size_t>{0, 4}) {
            Scene scene("AAAAAAAAA", counting, most_remembered);
            PositionList positions = scene.places_of(A, A);
            scene.lengths.push_back(2);
            NeighbourCounts counts(6);
            scene.shard[0].merge(positions, {A, A, 5}, counts);
            DOCTEST_CHECK(scene.tokens() == "5 5 5 5 0");
            DOCTEST_CHECK(counts.merged_twice == 3);
            DOCTEST_CHECK(counts.merged_twice_kept == (counting == OverlapCounting::alternate ? 2 : 3));
            PositionList twice(scene.memory), behind_a(scene.memory);
            NewLists lists(6);
            lists.merged_twice = &twice;
            lists.right[A] = &behind_a;
            scene.shard[0].list_neighbours(positions, {A, A, 5}, lists);
            const std::vector<std::uint64_t> every{0, 2, 4}, alternate{0, 4};
            DOCTEST_CHECK(scene.read(twice) == (counting == OverlapCounting::alternate ? alternate : every));
            DOCTEST_CHECK(scene.read(behind_a) == std::vector<std::uint64_t>{6});
        }
    }
}

namespace {

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
    for (const Symbol symbol : symbols) {
        text += (text.empty() ? "" : " ") + std::to_string(symbol);
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/merge_shard: merge after merge on real sequence, as one by one") {
    std::istringstream lines(
        bigbird::testing::read_file(bigbird::testing::test_data("tokenizer/sentences.txt")));
    std::string dna;
    std::getline(lines, dna);
    for (const std::size_t most_remembered : {std::size_t{0}, std::size_t{1} << 20}) {
        Scene scene(dna, OverlapCounting::every, most_remembered);
        Symbols plain;
        for (const char letter : dna) {
            plain.push_back(symbol_of_letter(letter));
        }
        // The pairs to come are listed by the merge before them, never by looking at all again.
        Symbol left = A, right = A;
        PositionList positions = scene.places_of(left, right);
        for (int round = 0; round < 8; ++round) {
            const auto merged = static_cast<Symbol>(scene.lengths.size());
            const MergeRule rule{left, right, merged};
            scene.lengths.push_back(static_cast<std::uint16_t>(scene.lengths[left] + scene.lengths[right]));
            NeighbourCounts counts(scene.lengths.size());
            scene.shard[0].merge(positions, rule, counts);
            plain = merge_plainly(plain, rule);
            DOCTEST_REQUIRE(scene.tokens() == spell(plain));
            // The commonest symbol behind the merged one makes the next pair.
            std::vector<std::uint64_t> behind(scene.lengths.size());
            for (std::size_t i = 0; i + 1 < plain.size(); ++i) {
                behind[plain[i + 1]] += plain[i] == merged;
            }
            const auto next =
                static_cast<Symbol>(std::max_element(behind.begin(), behind.end() - 1) - behind.begin());
            PositionList listed(scene.memory);
            NewLists lists(scene.lengths.size());
            lists.right[next] = &listed;
            scene.shard[0].list_neighbours(positions, rule, lists);
            const PositionList expected = scene.places_of(merged, next);
            DOCTEST_CHECK(scene.read(listed) == scene.read(expected));
            DOCTEST_CHECK(scene.shard[0].count(listed, merged, next) == behind[next]);
            left = merged;
            right = next;
            positions = std::move(listed);
        }
    }
}
