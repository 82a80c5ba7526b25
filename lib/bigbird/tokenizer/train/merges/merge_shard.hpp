// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/merges/pair_counting.hpp"
#include "bigbird/tokenizer/train/storage/position_list.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// left + right -> merged.
struct MergeRule {
    Symbol left, right, merged;
};

/// What a merge did to the neighbours, for one shard. Symbols are listed in the order in which they were
/// first met.
struct NeighbourCounts {
    /// By symbol: how often it stood left of `left`, right of `right`. No pair of IndexedMerges has 2^32 places
    /// in one shard, and half the memory stays in the cache.
    std::vector<std::uint32_t> left, right;
    std::vector<Symbol> met_left, met_right;  ///< symbols whose count may not be 0
    std::uint64_t merged_twice = 0;           ///< overlapping count of (merged, merged)
    std::uint64_t merged_twice_kept = 0;      ///< the same by the counting rule

    explicit NeighbourCounts(std::size_t symbols) : left(symbols), right(symbols) {}
    void add_left(Symbol symbol) {
        if (left[symbol]++ == 0) {
            met_left.push_back(symbol);
        }
    }
    void add_right(Symbol symbol) {
        if (right[symbol]++ == 0) {
            met_right.push_back(symbol);
        }
    }
    void clear();
};

/// Where the places of a new pair shall go: by symbol, null where the pair is not kept.
struct NewLists {
    std::vector<PositionList*> left;   ///< (symbol, merged)
    std::vector<PositionList*> right;  ///< (merged, symbol)
    PositionList* merged_twice = nullptr;

    explicit NewLists(std::size_t symbols) : left(symbols), right(symbols) {}
};

/// Drops every other occurrence of a run of one symbol, as PairCounting::disjoint demands. Feed it the
/// ascending places of (symbol, symbol).
class RunFilter {
public:
    RunFilter(PairCounting counting, std::uint64_t width) : counting_(counting), width_(width) {}
    bool keep(std::uint64_t place) {
        const bool overlaps = counting_ == PairCounting::disjoint && any_ && place == last_ + width_;
        any_ = !overlaps;
        last_ = place;
        return !overlaps;
    }

private:
    PairCounting counting_;
    std::uint64_t width_, last_ = 0;
    bool any_ = false;
};

/// A range of the token array that one thread works on; it begins behind a separator and ends with one, so
/// shards never touch each other.
class MergeShard {
public:
    /// `widths` holds the places that each symbol takes, and grows with the symbols.
    /// list_neighbours() need not read the places again where merge() merged at most `most_remembered`.
    MergeShard(std::span<Symbol> places, const std::vector<std::uint16_t>& widths, PairCounting counting,
               std::size_t most_remembered = std::size_t{1} << 21)
        : places_(places.data()),
          size_(places.size()),
          widths_(widths),
          counting_(counting),
          most_remembered_(most_remembered) {}

    /// Occurrences of (left, right) at `places` that are still there.
    std::uint64_t count(const PositionList& places, Symbol left, Symbol right) const;
    /// Merges them from left to right and counts what stood beside them.
    void merge(const PositionList& places, const MergeRule& rule, NeighbourCounts& counts);
    /// After merge(), with the same places: writes where the pairs with the new symbol stand.
    void list_neighbours(const PositionList& places, const MergeRule& rule, const NewLists& lists) const;

    /// Calls visit(left, right, place) for each two neighbours, in order.
    template <typename Visit>
    void for_each_pair(Visit&& visit) const;

    std::size_t size() const { return size_; }

private:
    struct Merged {
        std::uint64_t place;
        Symbol before, behind;  // when it was merged
    };
    void list_one(const Merged& merged, bool next_merges, const MergeRule& rule, const NewLists& lists,
                  RunFilter& run) const;

    Symbol* places_;
    std::size_t size_;
    const std::vector<std::uint16_t>& widths_;
    PairCounting counting_;
    std::size_t most_remembered_;
    std::vector<Merged>
        remembered_;  // of the last merge; as many as may be remembered, plus one if there were more
};

template <typename Visit>
void MergeShard::for_each_pair(Visit&& visit) const {
    if (widths_.size() ==
        TokenArray::letters) {  // nothing is merged yet: no place need wait for the last one
        for (std::size_t place = 0; place + 1 < size_; ++place) {
            if (places_[place] != TokenArray::separator && places_[place + 1] != TokenArray::separator) {
                visit(places_[place], places_[place + 1], place);
            }
        }
        return;
    }
    std::size_t place = 0;
    while (place < size_) {
        const Symbol left = places_[place];
        if (left == TokenArray::separator) {
            ++place;
            continue;
        }
        const std::size_t next = place + widths_[left];
        if (places_[next] != TokenArray::separator) {
            visit(left, places_[next], place);
        }
        place = next;
    }
}

}  // namespace bigbird::tokenizer
