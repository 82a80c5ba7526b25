// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bigbird::tokenizer {

struct CountedPair {
    Symbol left, right;
    std::uint64_t count;
    bool recount = false;  ///< the count is an upper bound

    /// By which pairs are ordered: their younger symbol, then their left and right one.
    auto age() const { return std::tuple(std::max(left, right), left, right); }
};

/// The symbols that the trainer has so far: the letters, then one per merge.
class LearntSymbols {
public:
    explicit LearntSymbols(std::int32_t max_piece_length) : max_piece_length_(max_piece_length) {
        for (Symbol letter = 0; letter < TokenArray::letters; ++letter) {
            texts.emplace_back(1, letter_of_symbol(letter));
            by_text_.emplace(texts.back(), letter);
            lengths.push_back(1);
            widths.push_back(1);
            parts.emplace_back(letter, letter);
        }
    }

    std::size_t size() const { return texts.size(); }
    std::size_t merges() const { return size() - TokenArray::letters; }
    bool short_enough(Symbol left, Symbol right) const {
        return lengths[left] + lengths[right] <= max_piece_length_;
    }
    /// Whether the text of a pair is already a piece, perhaps from another pair.
    bool is_known(Symbol left, Symbol right) const { return by_text_.contains(texts[left] + texts[right]); }
    std::optional<Symbol> find(const std::string& text) const {
        const auto found = by_text_.find(text);
        return found == by_text_.end() ? std::nullopt : std::optional(found->second);
    }

    /// The symbol that the pair becomes.
    Symbol add(Symbol left, Symbol right) {
        const auto merged = static_cast<Symbol>(size());
        texts.push_back(texts[left] + texts[right]);
        lengths.push_back(static_cast<std::uint16_t>(texts.back().size()));
        widths.push_back(static_cast<std::uint16_t>(widths[left] + widths[right]));
        parts.emplace_back(left, right);
        by_text_.emplace(texts.back(), merged);
        return merged;
    }

    /// From now on each existing symbol takes one position.
    void narrow() { widths.assign(size(), 1); }

    std::vector<std::string> texts;                ///< by symbol
    std::vector<std::uint16_t> lengths;            ///< by symbol, in bases
    std::vector<std::uint16_t> widths;             ///< by symbol, in positions of the token array
    std::vector<std::pair<Symbol, Symbol>> parts;  ///< by symbol: what was merged; a letter's are itself

private:
    std::int32_t max_piece_length_;
    std::unordered_map<std::string, Symbol> by_text_;
};

}  // namespace bigbird::tokenizer
