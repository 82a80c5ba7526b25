// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/merge_shard.hpp"

namespace bigbird::tokenizer {

void NeighbourCounts::clear() {
    for (const Symbol symbol : met_left) {
        left[symbol] = 0;
    }
    for (const Symbol symbol : met_right) {
        right[symbol] = 0;
    }
    met_left.clear();
    met_right.clear();
    joined_twice = joined_twice_kept = 0;
}

std::uint64_t MergeShard::count(const PositionList& places, Symbol left, Symbol right) const {
    const std::size_t width = widths_[left];
    std::uint64_t found = 0;
    for_each_place(places, places_, width, [&](std::uint64_t place) {
        found += places_[place] == left && places_[place + width] == right;
    });
    return found;
}

// A place of the list holds `left` at its first base only while that symbol stands there unmerged: whatever
// covers it later begins elsewhere or is longer. So two comparisons tell a live occurrence from a past one.
void MergeShard::merge(const PositionList& places, const MergeRule& rule, NeighbourCounts& counts) {
    const std::size_t left_width = widths_[rule.left], width = widths_[rule.joined];
    RunFilter run(counting_, width);
    remembered_.clear();
    for_each_place(places, places_, width, [&](std::uint64_t place) {
        Symbol* const here = places_ + place;
        if (here[0] != rule.left || here[left_width] != rule.right) {
            return;
        }
        here[left_width - 1] = here[left_width] = hole;
        here[0] = here[width - 1] = rule.joined;
        const Symbol before = here[-1], behind = here[width];
        if (remembered_.size() <= most_remembered_) {
            remembered_.push_back({place, before, behind});
        }
        if (before == rule.joined) {
            ++counts.joined_twice;
            counts.joined_twice_kept += run.keep(place - width);
        } else if (before != TokenArray::separator) {
            counts.add_left(before);
        }
        if (behind != TokenArray::separator) {
            counts.add_right(behind);
        }
    });
}

// `behind` is no neighbour where it was joined in its turn.
void MergeShard::list_one(const Merged& merged, bool next_joins, const MergeRule& rule, const NewLists& lists,
                          RunFilter& run) const {
    const auto [place, before, behind] = merged;
    if (before == rule.joined) {
        const std::uint64_t previous = place - widths_[rule.joined];
        if (lists.joined_twice != nullptr && run.keep(previous)) {
            lists.joined_twice->push_back(previous);
        }
    } else if (before != TokenArray::separator && lists.left[before] != nullptr) {
        lists.left[before]->push_back(place - widths_[before]);
    }
    if (!next_joins && behind != TokenArray::separator && lists.right[behind] != nullptr) {
        lists.right[behind]->push_back(place);
    }
}

void MergeShard::list_neighbours(const PositionList& places, const MergeRule& rule,
                                 const NewLists& lists) const {
    const std::size_t width = widths_[rule.joined];
    RunFilter run(counting_, width);
    if (remembered_.size() <= most_remembered_) {
        for (std::size_t i = 0; i < remembered_.size(); ++i) {
            const bool next_joins = i + 1 < remembered_.size() && remembered_[i + 1].before == rule.joined;
            list_one(remembered_[i], next_joins, rule, lists, run);
        }
        return;
    }
    std::uint64_t covered =
        0;  // AA's second A ends a joined symbol, which must not be taken for its beginning
    for_each_place(places, places_, width, [&](std::uint64_t place) {
        const Symbol* const here = places_ + place;
        if (here[0] != rule.joined || place < covered) {
            return;
        }
        covered = place + width;
        list_one({place, here[-1], here[width]}, here[width] == rule.joined, rule, lists, run);
    });
}

}  // namespace bigbird::tokenizer
