// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/pair_table.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace bigbird::tokenizer {

namespace {

constexpr unsigned first_shift = 64 - 12;
constexpr std::size_t candidates_at_once = 4096;

// Compares left1 + right1 with left2 + right2, which have the same total length, without concatenating them.
int compare_merged(std::string_view left1, std::string_view right1, std::string_view left2,
                   std::string_view right2) {
    const bool swapped = left1.size() > left2.size();
    if (swapped) {
        std::swap(left1, left2);
        std::swap(right1, right2);
    }
    const std::size_t middle = left2.size() - left1.size();
    int sign = left1.compare(left2.substr(0, left1.size()));
    sign = sign != 0 ? sign : right1.substr(0, middle).compare(left2.substr(left1.size()));
    sign = sign != 0 ? sign : right1.substr(middle).compare(right2);
    return swapped ? -sign : sign;
}

}  // namespace

PairTable::PairTable(const std::vector<std::string>& texts, std::size_t slices)
    : texts_(texts),
      memories_(slices),
      positions_(slices),
      slots_(std::size_t{1} << (64 - first_shift)),
      shift_(first_shift) {}

std::optional<std::uint32_t> PairTable::find(Symbol left, Symbol right) const {
    const std::uint32_t key = key_of(left, right);
    for (std::size_t i = home(key); slots_[i].number != vacant; i = (i + 1) & (slots_.size() - 1))
        if (slots_[i].key == key) return slots_[i].number;
    return std::nullopt;
}

void PairTable::place(std::uint32_t key, std::uint32_t number) {
    std::size_t i = home(key);
    while (slots_[i].number != vacant)
        i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, number};
}

void PairTable::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old)
        if (slot.number != vacant) place(slot.key, slot.number);
}

std::uint32_t PairTable::insert(Symbol left, Symbol right, std::uint64_t count) {
    if ((size() + 1) * 2 > slots_.size()) grow();
    std::uint32_t number = 0;
    if (free_.empty()) {
        number = static_cast<std::uint32_t>(pairs_.size());
        pairs_.emplace_back();
        for (std::size_t slice = 0; slice < positions_.size(); ++slice)
            positions_[slice].emplace_back(memories_[slice]);
    } else {
        number = free_.back();
        free_.pop_back();
    }
    pairs_[number] = {.left = left, .right = right, .kept = true, .count = count, .order = made_++};
    place(key_of(left, right), number);
    push(number);
    return number;
}

void PairTable::erase(std::uint32_t number) {
    SymbolPair& pair = pairs_[number];
    const std::uint32_t key = key_of(pair.left, pair.right);
    std::size_t gap = home(key);
    while (slots_[gap].key != key || slots_[gap].number == vacant)
        gap = (gap + 1) & (slots_.size() - 1);
    // Later slots move up if their probe sequence crosses the gap, so that no search stops early.
    for (std::size_t i = (gap + 1) & (slots_.size() - 1); slots_[i].number != vacant;
         i = (i + 1) & (slots_.size() - 1)) {
        const std::size_t from_home = (i - home(slots_[i].key)) & (slots_.size() - 1);
        if (from_home >= ((i - gap) & (slots_.size() - 1))) {
            slots_[gap] = slots_[i];
            gap = i;
        }
    }
    slots_[gap] = {};
    for (std::vector<PositionList>& positions : positions_)
        positions[number].clear();
    pair.kept = false;
    pair.order = made_++;  // invalidates all candidates of this pair in the heap
    free_.push_back(number);
}

bool PairTable::ranks_below(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) return a.count < b.count;
    const std::string &left_a = texts_[a.left], &right_a = texts_[a.right];
    const std::string &left_b = texts_[b.left], &right_b = texts_[b.right];
    const std::size_t length_a = left_a.size() + right_a.size(), length_b = left_b.size() + right_b.size();
    if (length_a != length_b) return length_a > length_b;
    const int sign = compare_merged(left_a, right_a, left_b, right_b);
    return sign != 0 ? sign > 0 : a.order > b.order;
}

void PairTable::push(std::uint32_t number) {
    const SymbolPair& pair = pairs_[number];
    if (pair.count < floor_) return;
    heap_.push_back({pair.count, pair.order, number, pair.left, pair.right});
    std::push_heap(heap_.begin(), heap_.end(),
                   [this](const Candidate& a, const Candidate& b) { return ranks_below(a, b); });
}

// Moves the next few thousand best pairs into the empty heap; returns false if none is left. A small heap
// stays in the cache.
bool PairTable::lower_floor() {
    if (floor_ == 0 || size() == 0) return false;
    floor_ = size() <= candidates_at_once ? 0 : ranked_count(candidates_at_once);
    for (std::uint32_t number = 0; number < pairs_.size(); ++number)
        if (pairs_[number].kept) push(number);
    return true;
}

std::optional<std::uint32_t> PairTable::best() {
    do {
        while (!heap_.empty()) {
            const Candidate top = heap_.front();
            const SymbolPair& pair = pairs_[top.number];
            if (pair.order == top.order && pair.count == top.count) return top.number;
            std::pop_heap(heap_.begin(), heap_.end(),
                          [this](const Candidate& a, const Candidate& b) { return ranks_below(a, b); });
            heap_.pop_back();
            if (pair.order == top.order) push(top.number);
        }
    } while (lower_floor());
    return std::nullopt;
}

std::uint64_t PairTable::ranked_count(std::size_t rank) const {
    std::vector<std::uint64_t> counts;
    counts.reserve(size());
    for (const SymbolPair& pair : pairs_)
        if (pair.kept) counts.push_back(pair.count);
    const auto ranked = counts.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(counts.begin(), ranked, counts.end(), std::greater<>());
    return *ranked;
}

}  // namespace bigbird::tokenizer
