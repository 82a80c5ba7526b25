// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/pair_table.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace bigbird::tokenizer {

namespace {

constexpr unsigned first_shift = 64 - 12;

// How left1 + right1 compares with left2 + right2, of the same length together, without joining them.
int compare_joined(std::string_view left1, std::string_view right1, std::string_view left2,
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

PairTable::PairTable(const std::vector<std::string>& texts)
    : texts_(texts), slots_(std::size_t{1} << (64 - first_shift)), shift_(first_shift) {}

std::optional<std::uint32_t> PairTable::find(Symbol left, Symbol right) const {
    const std::uint32_t key = key_of(left, right);
    for (std::size_t i = home(key); slots_[i].number != vacant; i = (i + 1) & (slots_.size() - 1)) {
        if (slots_[i].key == key) {
            return slots_[i].number;
        }
    }
    return std::nullopt;
}

void PairTable::place(std::uint32_t key, std::uint32_t number) {
    std::size_t i = home(key);
    while (slots_[i].number != vacant) {
        i = (i + 1) & (slots_.size() - 1);
    }
    slots_[i] = {key, number};
}

void PairTable::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
        if (slot.number != vacant) {
            place(slot.key, slot.number);
        }
    }
}

std::uint32_t PairTable::insert(Symbol left, Symbol right, std::uint64_t count, std::size_t shards) {
    if ((size() + 1) * 2 > slots_.size()) {
        grow();
    }
    std::uint32_t number;
    if (free_.empty()) {
        number = static_cast<std::uint32_t>(pairs_.size());
        pairs_.emplace_back();
    } else {
        number = free_.back();
        free_.pop_back();
    }
    SymbolPair& pair = pairs_[number];
    pair.left = left;
    pair.right = right;
    pair.recount = false;
    pair.count = count;
    pair.order = made_++;
    pair.places.assign(shards, {});
    place(key_of(left, right), number);
    push(number);
    return number;
}

void PairTable::erase(std::uint32_t number) {
    SymbolPair& pair = pairs_[number];
    const std::uint32_t key = key_of(pair.left, pair.right);
    std::size_t hole = home(key);
    while (slots_[hole].key != key || slots_[hole].number == vacant) {
        hole = (hole + 1) & (slots_.size() - 1);
    }
    // Slots behind move up where their way from home leads over the hole, so that no find stops early.
    for (std::size_t i = (hole + 1) & (slots_.size() - 1); slots_[i].number != vacant;
         i = (i + 1) & (slots_.size() - 1)) {
        const std::size_t from_home = (i - home(slots_[i].key)) & (slots_.size() - 1);
        if (from_home >= ((i - hole) & (slots_.size() - 1))) {
            slots_[hole] = slots_[i];
            hole = i;
        }
    }
    slots_[hole] = {};
    pair.places.clear();
    pair.places.shrink_to_fit();
    pair.order = made_++;  // no candidate in the heap means this pair any more
    free_.push_back(number);
}

bool PairTable::ranks_below(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) {
        return a.count < b.count;
    }
    const std::string &left_a = texts_[a.left], &right_a = texts_[a.right];
    const std::string &left_b = texts_[b.left], &right_b = texts_[b.right];
    const std::size_t length_a = left_a.size() + right_a.size(), length_b = left_b.size() + right_b.size();
    if (length_a != length_b) {
        return length_a > length_b;
    }
    const int sign = compare_joined(left_a, right_a, left_b, right_b);
    return sign != 0 ? sign > 0 : a.order > b.order;
}

void PairTable::push(std::uint32_t number) {
    const SymbolPair& pair = pairs_[number];
    heap_.push_back({pair.count, pair.order, number, pair.left, pair.right});
    std::push_heap(heap_.begin(), heap_.end(),
                   [this](const Candidate& a, const Candidate& b) { return ranks_below(a, b); });
}

std::optional<std::uint32_t> PairTable::best() {
    while (!heap_.empty()) {
        const Candidate top = heap_.front();
        const SymbolPair& pair = pairs_[top.number];
        if (pair.order == top.order && pair.count == top.count) {
            return top.number;
        }
        std::pop_heap(heap_.begin(), heap_.end(),
                      [this](const Candidate& a, const Candidate& b) { return ranks_below(a, b); });
        heap_.pop_back();
        if (pair.order == top.order) {
            push(top.number);
        }
    }
    return std::nullopt;
}

std::uint64_t PairTable::ranked_count(std::size_t rank) const {
    std::vector<std::uint64_t> counts;
    counts.reserve(size());
    for (const Slot& slot : slots_) {
        if (slot.number != vacant) {
            counts.push_back(pairs_[slot.number].count);
        }
    }
    const auto ranked = counts.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(counts.begin(), ranked, counts.end(), std::greater<>());
    return *ranked;
}

}  // namespace bigbird::tokenizer
