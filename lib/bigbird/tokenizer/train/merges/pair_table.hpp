// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/position_list.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::tokenizer {

/// Two neighboring symbols.
struct SymbolPair {
    Symbol left = 0, right = 0;
    bool recount = false;     ///< the count is an upper bound: occurrences may be gone
    bool kept = false;        ///< whether its number is in use
    std::uint64_t count = 0;  ///< occurrences
    std::uint64_t order = 0;  ///< number of pairs made before it
};

/// The pairs that can still become the most frequent, found by their symbols or by rank. Rank is by count,
/// then length (shorter first), then text, then age (older first). A count only falls after the round that
/// made its pair, because each later merge of one of its symbols removes occurrences. So pairs below a
/// threshold that no round will reach are never kept, and a heap of past counts finds the best one. Not
/// thread-safe.
class PairTable {
public:
    /// `texts` has the text of each symbol, and grows with the symbols.
    PairTable(const std::vector<std::string>& texts, std::size_t slices);

    /// The pair's number, if it is kept.
    std::optional<std::uint32_t> find(Symbol left, Symbol right) const;
    /// Prefetches the memory that find() reads first.
    void prefetch(Symbol left, Symbol right) const {
        __builtin_prefetch(slots_.data() + home(key_of(left, right)));
    }
    /// Prefetches the memory of a pair.
    void prefetch(std::uint32_t number) const { __builtin_prefetch(pairs_.data() + number, 1); }
    /// Inserts a new pair, with an empty list of positions for each slice.
    std::uint32_t insert(Symbol left, Symbol right, std::uint64_t count);
    void erase(std::uint32_t number);
    SymbolPair& at(std::uint32_t number) { return pairs_[number]; }
    /// Memory of a slice's lists; threads may use different slices at once.
    ListMemory& memory(std::size_t slice) { return memories_[slice]; }
    /// The positions in a slice where the pair's `left` may begin. The reference stays valid until the next
    /// insert().
    PositionList& positions(std::uint32_t number, std::size_t slice) { return positions_[slice][number]; }

    /// The best pair, which stays in the table; nullopt if none is left. A pair marked `recount` comes with
    /// its upper bound: count it, clear the mark and ask again.
    std::optional<std::uint32_t> best();

    /// The count of the pair at position `rank` (from 0) by descending count; rank < size().
    std::uint64_t ranked_count(std::size_t rank) const;
    /// Number of pairs made so far; their `order` is below it.
    std::uint64_t made() const { return made_; }

    std::size_t size() const { return pairs_.size() - free_.size(); }
    /// An upper bound (exclusive) of all pair numbers.
    std::size_t numbers_end() const { return pairs_.size(); }

private:
    struct Candidate {
        std::uint64_t count, order;
        std::uint32_t number;
        Symbol left, right;
    };
    struct Slot {
        std::uint32_t key = 0, number = vacant;
    };
    static constexpr std::uint32_t vacant = 0xFFFFFFFF;
    static std::uint32_t key_of(Symbol left, Symbol right) {
        return static_cast<std::uint32_t>(left) << 16 | right;
    }
    std::size_t home(std::uint32_t key) const { return (key * 0x9E3779B97F4A7C15ULL) >> shift_; }
    void grow();
    void place(std::uint32_t key, std::uint32_t number);
    bool ranks_below(const Candidate& a, const Candidate& b) const;
    void push(std::uint32_t number);
    bool lower_floor();

    const std::vector<std::string>& texts_;
    std::vector<SymbolPair> pairs_;
    std::vector<ListMemory> memories_;  // by slice
    std::vector<std::vector<PositionList>>
        positions_;  // [slice][number]: threads write to lists of their own slice
    std::vector<std::uint32_t> free_;
    std::vector<Slot> slots_;
    unsigned shift_;
    std::vector<Candidate> heap_;
    std::uint64_t floor_ =
        std::numeric_limits<std::uint64_t>::max();  // pairs with a lower count are not in the heap
    std::uint64_t made_ = 0;
};

}  // namespace bigbird::tokenizer
