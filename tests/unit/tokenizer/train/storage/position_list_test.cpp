// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/position_list.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cstdint>
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
