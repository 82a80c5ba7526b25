// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::tokenizer {

/// Ascending places of a shard, as differences of 7 bits a byte: one to three bytes a place where 32-bit
/// numbers take four. Written once, read in order.
class PositionList {
public:
    /// Room for `count` places that spread evenly over `range` places.
    void expect(std::uint64_t count, std::uint64_t range);

    /// `place` must exceed the last one.
    void push_back(std::uint64_t place) {
        std::uint64_t difference = place - last_;
        last_ = place;
        while (difference >= 0x80) {
            bytes_.push_back(static_cast<std::uint8_t>(difference | 0x80));
            difference >>= 7;
        }
        bytes_.push_back(static_cast<std::uint8_t>(difference));
    }
    /// No more places follow: gives unused memory back.
    void finish();
    void clear() { std::vector<std::uint8_t>().swap(bytes_); }

    bool empty() const { return bytes_.empty(); }
    std::size_t memory() const { return bytes_.capacity(); }

private:
    friend class PositionReader;
    std::vector<std::uint8_t> bytes_;
    std::uint64_t last_ = 0;
};

/// Reads a list in blocks and asks for the memory that the places point to one block ahead, since the
/// trainer's time is spent waiting for it.
class PositionReader {
public:
    static constexpr std::size_t block = 64;
    using Block = std::array<std::uint64_t, block>;

    explicit PositionReader(const PositionList& list)
        : next_(list.bytes_.data()), end_(list.bytes_.data() + list.bytes_.size()) {}

    /// The next places, prefetching symbols[place]; returns how many there are.
    template <typename Symbol>
    std::size_t read(Block& places, const Symbol* symbols) {
        std::size_t count = 0;
        while (count < block && next_ != end_) {
            std::uint64_t byte = *next_++, difference = byte & 0x7F;
            for (unsigned shift = 7; byte >= 0x80; shift += 7) {
                byte = *next_++;
                difference |= (byte & 0x7F) << shift;
            }
            place_ += difference;
            __builtin_prefetch(symbols + place_, 1);
            places[count++] = place_;
        }
        return count;
    }

private:
    const std::uint8_t* next_;
    const std::uint8_t* end_;
    std::uint64_t place_ = 0;
};

/// Calls visit(place) for each place of `list`, while memory at symbols[place] is on its way.
template <typename Symbol, typename Visit>
void for_each_place(const PositionList& list, const Symbol* symbols, Visit&& visit) {
    PositionReader reader(list);
    PositionReader::Block current, following;
    std::size_t count = reader.read(current, symbols);
    while (count > 0) {
        const std::size_t ahead = reader.read(following, symbols);
        for (std::size_t i = 0; i < count; ++i) {
            visit(current[i]);
        }
        std::swap(current, following);
        count = ahead;
    }
}

}  // namespace bigbird::tokenizer
