// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/list_memory.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cstring>
#include <vector>

using bigbird::tokenizer::ListMemory;

DOCTEST_TEST_CASE("tokenizer/list_memory: sizes are an eighth apart") {
    for (std::size_t bytes = 0; bytes < 5000; ++bytes) {
        const std::size_t size = ListMemory::size_for(bytes);
        DOCTEST_CHECK(size >= bytes);
        DOCTEST_CHECK(size <= std::max<std::size_t>(bytes + bytes / 8, 16));
        DOCTEST_CHECK(ListMemory::size_for(size) == size);
    }
    DOCTEST_CHECK(ListMemory::size_for(std::size_t{1} << 40) == std::size_t{1} << 40);
}

DOCTEST_TEST_CASE("tokenizer/list_memory: blocks in use do not overlap, and given ones come back") {
    ListMemory memory;
    bigbird::Rng rng(5);
    std::vector<ListMemory::Block> blocks;
    for (int i = 0; i < 2000; ++i) {
        const auto bytes =
            static_cast<std::size_t>(rng.between(0, rng.uniform() < 0.01 ? 20'000'000 : 3'000));
        blocks.push_back(memory.take(bytes));
        DOCTEST_CHECK(blocks.back().size >= bytes);
        std::memset(blocks.back().data, static_cast<int>((blocks.size() - 1) % 251),
                    std::min<std::size_t>(blocks.back().size, 4096));
        if (rng.uniform() < 0.5) {
            const auto position =
                static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(blocks.size()) - 1));
            const ListMemory::Block whole = blocks[position];
            memory.give_back(whole);
            blocks[position] = memory.take(whole.size);
            DOCTEST_CHECK(blocks[position].data == whole.data);
            DOCTEST_CHECK(blocks[position].size == whole.size);
            if (whole.size >= 64) {  // a large one serves small ones
                memory.give_back(whole);
                blocks[position] = memory.take(whole.size / 4);
                blocks.push_back(memory.take(whole.size / 4));
                DOCTEST_CHECK(blocks[position].size < whole.size / 2);
                std::memset(blocks[position].data, static_cast<int>(position % 251),
                            std::min<std::size_t>(blocks[position].size, 4096));
                std::memset(blocks.back().data, static_cast<int>((blocks.size() - 1) % 251),
                            std::min<std::size_t>(blocks.back().size, 4096));
            }
        }
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::size_t size = std::min<std::size_t>(blocks[i].size, 4096);
        const std::vector<std::uint8_t> expected(size, static_cast<std::uint8_t>(i % 251));
        DOCTEST_CHECK(std::memcmp(blocks[i].data, expected.data(), size) == 0);
    }
}
