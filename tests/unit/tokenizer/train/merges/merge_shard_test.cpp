// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/merge_shard.hpp"

#include "support/testing.hpp"

#include <map>
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
