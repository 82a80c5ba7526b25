// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/position_list.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/position_list: positions come back, whatever their distance") {
    bigbird::Rng rng(7);
    ListMemory lists;
    for (const std::int64_t widest : {1, 100, 20'000, 3'000'000}) {
        PositionList list(lists);
        std::vector<std::uint64_t> expected;
        std::uint64_t position = 0;
        list.expect(1000, 1000 * static_cast<std::uint64_t>(widest));
        for (int i = 0; i < 1000; ++i) {
            position += static_cast<std::uint64_t>(rng.between(i == 0 ? 0 : 1, widest));
            expected.push_back(position);
            list.push_back(position);
        }
        list.finish();
        const std::vector<char> memory(1);  // prefetched only
        std::vector<std::uint64_t> found;
        for_each_position(list, memory.data(), 1, [&](std::uint64_t at) { found.push_back(at); });
        DOCTEST_CHECK(found == expected);
        DOCTEST_CHECK(list.memory() < 1000 * 4);
    }
}

DOCTEST_TEST_CASE("tokenizer/position_list: nothing, one position, a cleared list") {
    const char memory[1]{};
    ListMemory lists;
    PositionList list(lists);
    int visits = 0;
    for_each_position(list, memory, 1, [&](std::uint64_t) { ++visits; });
    DOCTEST_CHECK(visits == 0);
    list.push_back(0);
    for_each_position(list, memory, 1, [&](std::uint64_t position) { visits += position == 0; });
    DOCTEST_CHECK(visits == 1);
    PositionList moved = std::move(list);
    for_each_position(moved, memory, 1, [&](std::uint64_t position) { visits += position == 0; });
    DOCTEST_CHECK(visits == 2);
    list = std::move(moved);
    list.clear();
    DOCTEST_CHECK(list.empty());
    DOCTEST_CHECK(list.memory() == 0);
}

namespace {

std::vector<std::uint64_t> read(const PositionList& list, std::size_t reach = 1) {
    const std::vector<char> memory(1);  // prefetched only
    std::vector<std::uint64_t> found;
    for_each_position(list, memory.data(), reach, [&](std::uint64_t at) { found.push_back(at); });
    return found;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/position_list: differences at every border of bytes") {
    ListMemory lists;
    PositionList list(lists);
    std::vector<std::uint64_t> expected;
    std::uint64_t position = 0;
    for (unsigned bits = 7; bits <= 56; bits += 7) {
        for (const std::uint64_t difference :
             {(std::uint64_t{1} << bits) - 1, std::uint64_t{1} << bits, (std::uint64_t{1} << bits) + 1}) {
            position += difference;
            list.push_back(position);
            expected.push_back(position);
        }
    }
    DOCTEST_CHECK(read(list) == expected);
}

DOCTEST_TEST_CASE("tokenizer/position_list: any number of positions, more than are read ahead or fewer") {
    ListMemory lists;
    for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 1000U}) {
        PositionList list(lists);
        std::vector<std::uint64_t> expected;
        for (std::size_t i = 0; i < count; ++i) {
            expected.push_back(5 + 3 * i);
            list.push_back(expected.back());
        }
        DOCTEST_CAPTURE(count);
        DOCTEST_CHECK(read(list, 7) == expected);
    }
}

DOCTEST_TEST_CASE("tokenizer/position_list: a wrong expectation costs memory, not positions") {
    ListMemory lists;
    for (const std::uint64_t expected_count : {0U, 10U, 100'000U}) {
        PositionList list(lists);
        list.expect(expected_count, expected_count * 50);
        std::vector<std::uint64_t> positions;
        for (std::uint64_t i = 0; i < 5000; ++i) {
            positions.push_back(i * 200);
            list.push_back(positions.back());
        }
        DOCTEST_CHECK(read(list) == positions);
        const std::size_t before = list.memory();
        list.finish();
        DOCTEST_CHECK(list.memory() <= before);
        DOCTEST_CHECK(list.memory() < 2 * 5000 + 2 * 5000 / 4);  // two bytes a position
        DOCTEST_CHECK(read(list) == positions);
    }
    PositionList none(lists);
    none.expect(1000, 1000);
    none.finish();
    DOCTEST_CHECK(none.memory() == 0);
    DOCTEST_CHECK(read(none).empty());
}

DOCTEST_TEST_CASE("tokenizer/position_list: lists written in turn do not touch each other") {
    ListMemory memory;
    bigbird::Rng rng(8);
    std::vector<PositionList> lists;
    std::vector<std::vector<std::uint64_t>> expected(40);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        lists.emplace_back(memory);
    }
    for (std::uint64_t position = 1; position < 30'000; ++position) {
        const auto i = static_cast<std::size_t>(rng.between(0, 39));
        lists[i].push_back(position);
        expected[i].push_back(position);
        if (rng.uniform() < 0.001) {
            lists[i].clear();
            expected[i].clear();
        } else if (rng.uniform() < 0.001) {
            lists[i].finish();
        }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        DOCTEST_CHECK(read(lists[i]) == expected[i]);
        PositionList moved(std::move(lists[i]));
        DOCTEST_CHECK(lists[i].empty());  // NOLINT(bugprone-use-after-move)
        DOCTEST_CHECK(read(moved) == expected[i]);
    }
}
