// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bigbird::tokenizer {

/// Memory for many lists of different lifetimes, from huge pages: lists are written in random order, and with
/// 4 kB pages most writes would miss the TLB. Blocks come in sizes an eighth apart. Returned blocks are
/// reused, split if they are large, because new memory costs more. Not thread-safe.
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
    /// A block of at least `bytes` bytes. Throws std::bad_alloc.
    Block take(std::size_t bytes);
    /// `block`: a result of take().
    void give_back(const Block& block);
    /// The size of the block that take() would give.
    static std::size_t size_for(std::size_t bytes);

private:
    static constexpr std::size_t classes = 8 * 48;
    Block fresh(std::size_t size);
    void keep(std::uint8_t* data, std::size_t number);

    std::array<std::vector<std::uint8_t*>, classes> free_;
    std::array<std::uint64_t, classes / 64> any_free_{};  // one bit per class
    std::vector<Block> slabs_;
    std::uint8_t* next_ = nullptr;  // the unused part of the last slab
    std::size_t left_ = 0;
};

/// Ascending positions of a slice, as differences of 7 bits per byte: one to three bytes per position where
/// 32-bit numbers take four. Written once, read in order.
class alignas(32) PositionList {
public:
    /// Takes its bytes from `memory`, which must outlive it.
    explicit PositionList(ListMemory& memory) : memory_(&memory) {}
    ~PositionList() { clear(); }
    PositionList(PositionList&& other) noexcept { *this = std::move(other); }
    PositionList& operator=(PositionList&& other) noexcept;
    PositionList(const PositionList&) = delete;
    PositionList& operator=(const PositionList&) = delete;

    /// Room for `count` positions that spread evenly over `range` positions; the list must be empty.
    void expect(std::uint64_t count, std::uint64_t range);

    /// `position` must exceed the last one.
    void push_back(std::uint64_t position) {
        std::uint64_t difference = position - last_;
        last_ = position;
        if (size_ + most_bytes > capacity_) grow();
        while (difference >= 0x80) {
            data_[size_++] = static_cast<std::uint8_t>(difference | 0x80);
            difference >>= 7;
        }
        data_[size_++] = static_cast<std::uint8_t>(difference);
    }
    /// No more positions follow: gives unused memory back.
    void finish();
    void clear();

    /// Prefetches the memory that push_back() writes.
    void prefetch() const { __builtin_prefetch(data_ + size_, 1); }

    /// Calls visit(position) for each position, while symbols[position - 1] to symbols[position + reach] of
    /// later positions are prefetched: the trainer spends its time waiting for memory.
    template <typename Symbol, typename Visit>
    void for_each(const Symbol* symbols, std::size_t reach, Visit&& visit) const {
        constexpr std::size_t ahead = 32;
        std::array<std::uint64_t, ahead> ring;
        const std::uint8_t *at = data_, *const end = data_ + size_;
        std::uint64_t last = 0;
        const auto read = [&] {
            std::uint64_t byte = *at++, difference = byte & 0x7F;
            for (unsigned shift = 7; byte >= 0x80; shift += 7) {
                byte = *at++;
                difference |= (byte & 0x7F) << shift;
            }
            last += difference;
            __builtin_prefetch(symbols + last - 1, 1);
            __builtin_prefetch(symbols + last + reach, 1);
            return last;
        };
        std::size_t count = 0, next = 0;
        while (count < ahead && at != end)
            ring[count++] = read();
        while (at != end) {
            const std::uint64_t position = ring[next];
            ring[next] = read();
            next = (next + 1) % ahead;
            visit(position);
        }
        for (std::size_t i = 0; i < count; ++i)
            visit(ring[(next + i) % ahead]);
    }

    bool empty() const { return size_ == 0; }
    std::size_t memory() const { return capacity_; }

private:
    static constexpr std::size_t most_bytes = 10;  // of one difference
    void grow() { move_to(std::size_t{capacity_} + capacity_ / 4 + most_bytes); }
    void move_to(std::size_t capacity);

    ListMemory* memory_ = nullptr;
    std::uint8_t* data_ = nullptr;
    std::uint32_t size_ = 0, capacity_ = 0;  // small, so that a list fits in one cache line
    std::uint64_t last_ = 0;
};

}  // namespace bigbird::tokenizer
