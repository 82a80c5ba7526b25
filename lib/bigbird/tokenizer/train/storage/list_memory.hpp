// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::tokenizer {

/// Memory for many lists that live long or short, out of huge pages: lists are written at random, and with
/// pages of 4 kB most writes would wait for an address. Blocks come in sizes an eighth apart; those given
/// back are taken again, in pieces where they are large, since fresh memory costs more. Not thread-safe.
class ListMemory {
public:
    ListMemory() = default;
    ~ListMemory();
    ListMemory(const ListMemory&) = delete;
    ListMemory& operator=(const ListMemory&) = delete;

    struct Block {
        std::uint8_t* data = nullptr;
        std::size_t size = 0;
    };
    /// At least so many bytes. Throws std::bad_alloc.
    Block take(std::size_t bytes);
    /// `block` as take() gave it.
    void give_back(const Block& block);
    /// The size of the block that take() would give.
    static std::size_t size_for(std::size_t bytes);

private:
    static constexpr std::size_t classes = 8 * 48;
    Block fresh(std::size_t size);
    void keep(std::uint8_t* data, std::size_t number);

    std::array<std::vector<std::uint8_t*>, classes> free_;
    std::array<std::uint64_t, classes / 64> any_free_{};  // a bit a class
    std::vector<Block> slabs_;
    std::uint8_t* next_ = nullptr;  // the unused part of the last slab
    std::size_t left_ = 0;
};

}  // namespace bigbird::tokenizer
