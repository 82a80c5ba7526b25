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
    merged_twice = merged_twice_kept = 0;
}

std::uint64_t MergeShard::count(const PositionList& positions, Symbol left, Symbol right) const {
    const std::size_t width = widths_[left];
    std::uint64_t found = 0;
    for_each_position(positions, positions_, width, [&](std::uint64_t position) {
        found += positions_[position] == left && positions_[position + width] == right;
    });
    return found;
}

// A position of the list holds `left` at its first base only while that symbol stands there unmerged:
// whatever covers it later begins elsewhere or is longer. So two comparisons tell a live occurrence from a
// past one.
void MergeShard::merge(const PositionList& positions, const MergeRule& rule, NeighbourCounts& counts) {
    const std::size_t left_width = widths_[rule.left], width = widths_[rule.merged];
    RunFilter run(counting_, width);
    remembered_.clear();
    for_each_position(positions, positions_, width, [&](std::uint64_t position) {
        Symbol* const here = positions_ + position;
        if (here[0] != rule.left || here[left_width] != rule.right) {
            return;
        }
        here[left_width - 1] = here[left_width] = hole;
        here[0] = here[width - 1] = rule.merged;
        const Symbol before = here[-1], behind = here[width];
        if (remembered_.size() <= most_remembered_) {
            remembered_.push_back({position, before, behind});
        }
        if (before == rule.merged) {
            ++counts.merged_twice;
            counts.merged_twice_kept += run.keep(position - width);
        } else if (before != TokenArray::separator) {
            counts.add_left(before);
        }
        if (behind != TokenArray::separator) {
            counts.add_right(behind);
        }
    });
}

// `behind` is no neighbour where it was merged in its turn.
void MergeShard::list_one(const Merged& merged, bool next_merges, const MergeRule& rule,
                          const NewLists& lists, RunFilter& run) const {
    const auto [position, before, behind] = merged;
    if (before == rule.merged) {
        const std::uint64_t previous = position - widths_[rule.merged];
        if (lists.merged_twice != nullptr && run.keep(previous)) {
            lists.merged_twice->push_back(previous);
        }
    } else if (before != TokenArray::separator && lists.left[before] != nullptr) {
        lists.left[before]->push_back(position - widths_[before]);
    }
    if (!next_merges && behind != TokenArray::separator && lists.right[behind] != nullptr) {
        lists.right[behind]->push_back(position);
    }
}

void MergeShard::list_neighbours(const PositionList& positions, const MergeRule& rule,
                                 const NewLists& lists) const {
    const std::size_t width = widths_[rule.merged];
    RunFilter run(counting_, width);
    if (remembered_.size() <= most_remembered_) {
        for (std::size_t i = 0; i < remembered_.size(); ++i) {
            const bool next_merges = i + 1 < remembered_.size() && remembered_[i + 1].before == rule.merged;
            list_one(remembered_[i], next_merges, rule, lists, run);
        }
        return;
    }
    std::uint64_t covered =
        0;  // AA's second A ends a merged symbol, which must not be taken for its beginning
    for_each_position(positions, positions_, width, [&](std::uint64_t position) {
        const Symbol* const here = positions_ + position;
        if (here[0] != rule.merged || position < covered) {
            return;
        }
        covered = position + width;
        list_one({position, here[-1], here[width]}, here[width] == rule.merged, rule, lists, run);
    });
}

}  // namespace bigbird::tokenizer
