// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"
#include "bigbird/tokenizer/train/storage/position_list.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// left + right -> merged.
struct MergeRule {
    Symbol left, right, merged;
};

/// Counts of symbols, which are listed in the order of their first occurrence.
struct SymbolCounts {
    /// By symbol. 32 bits suffice, because no pair of IndexedMerges has 2^32 positions in one slice, and fit
    /// the cache better.
    std::vector<std::uint32_t> of;
    std::vector<Symbol> met;  ///< symbols whose count may not be 0

    void add(Symbol symbol, std::uint32_t count = 1) {
        if (of[symbol] == 0) met.push_back(symbol);
        of[symbol] += count;
    }
    void add(const SymbolCounts& other) {
        for (const Symbol symbol : other.met)
            add(symbol, other.of[symbol]);
    }
    void clear();
};

/// Counts of the neighbors of a merged pair, for one slice.
struct NeighbourCounts {
    SymbolCounts left, right;             ///< left of `left`, right of `right`
    std::uint64_t merged_twice = 0;       ///< overlapping count of (merged, merged)
    std::uint64_t merged_twice_kept = 0;  ///< the same by the counting rule

    explicit NeighbourCounts(std::size_t symbols)
        : left{std::vector<std::uint32_t>(symbols), {}}, right(left) {}
    void add(const NeighbourCounts& other);
    void clear();
};

/// The lists for the positions of new pairs: by symbol, null if the pair is not kept.
struct NewLists {
    std::vector<PositionList*> left;   ///< (symbol, merged)
    std::vector<PositionList*> right;  ///< (merged, symbol)
    PositionList* merged_twice = nullptr;

    explicit NewLists(std::size_t symbols) : left(symbols), right(symbols) {}
};

/// Drops every other occurrence in a run of one symbol, for OverlapCounting::alternate. Call it with the
/// ascending positions of (symbol, symbol), and the symbol's width.
class RunFilter {
public:
    explicit RunFilter(OverlapCounting counting) : counting_(counting) {}
    bool keep(std::uint64_t position, std::uint64_t width) {
        const bool overlaps = counting_ == OverlapCounting::alternate && position == end_;
        end_ = overlaps ? no_end : position + width;
        return !overlaps;
    }

private:
    OverlapCounting counting_;
    static constexpr std::uint64_t no_end = ~std::uint64_t{0};
    std::uint64_t end_ = no_end;  // of the symbol at the last position that was kept
};

/// A range of the token array that one thread works on. It begins after a separator and ends with one, so
/// slices are independent.
class MergeSlice {
public:
    /// `widths` holds the positions that each symbol takes, and grows with the symbols.
    MergeSlice(std::span<Symbol> positions, const std::vector<std::uint16_t>& widths,
               OverlapCounting counting)
        : positions_(positions.data()), size_(positions.size()), widths_(widths), counting_(counting) {}

    /// Occurrences of (left, right) at `positions` that are still there.
    std::uint64_t count(const PositionList& positions, Symbol left, Symbol right) const;
    /// Merges them from left to right and counts their neighbors.
    void merge(const PositionList& positions, const MergeRule& rule, NeighbourCounts& counts);
    /// After merge(): writes the positions of pairs with the new symbol.
    void list_neighbours(const MergeRule& rule, const NewLists& lists) const;

    /// Calls visit(left, right, position) for each two neighbors, in order.
    template <typename Visit>
    void for_each_pair(Visit&& visit) const;
    /// The same under the counting rule: only the first, third, … pair in a run of one symbol where they may
    /// not overlap.
    template <typename Visit>
    void for_each_counted(Visit&& visit) const;

    std::size_t size() const { return size_; }

private:
    struct Merged {
        std::uint64_t position;
        Symbol before, behind;  // when it was merged
    };

    Symbol* positions_;
    std::size_t size_;
    const std::vector<std::uint16_t>& widths_;
    OverlapCounting counting_;
    std::vector<Merged> remembered_;  // of the last merge
};

template <typename Visit>
void MergeSlice::for_each_pair(Visit&& visit) const {
    std::size_t position = 0;
    while (position < size_) {
        const Symbol left = positions_[position];
        if (left == TokenArray::separator) {
            ++position;
            continue;
        }
        const std::size_t next = position + widths_[left];
        if (positions_[next] != TokenArray::separator) visit(left, positions_[next], position);
        position = next;
    }
}

template <typename Visit>
void MergeSlice::for_each_counted(Visit&& visit) const {
    RunFilter run(counting_);
    for_each_pair([&](Symbol left, Symbol right, std::uint64_t position) {
        if (left != right || run.keep(position, widths_[left])) visit(left, right, position);
    });
}

/// Counts the pairs of neighbors and returns those with at least `threshold` occurrences for which accept()
/// is true, by their younger symbol, then by their left and right one. A team member for each slice.
std::vector<CountedPair> count_pairs(std::span<const MergeSlice> slices, ThreadTeam& team,
                                     std::uint64_t threshold,
                                     const std::function<bool(Symbol, Symbol)>& accept);

}  // namespace bigbird::tokenizer
