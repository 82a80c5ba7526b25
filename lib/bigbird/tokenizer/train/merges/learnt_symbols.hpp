// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bigbird::tokenizer {

/// How AA is counted in AAA, where a pair's two symbols are the same: `every` one as SentencePiece from
/// 0.1.99 on. `alternate` ones as up to 0.1.98 (in the years of BigBird's paper), which kept every other one
/// of a run when the pair appeared and never looked at the rest again. Or as the `installed` SentencePiece
/// does, so that both engines give the same pieces. Code that counts takes `every` or `alternate`.
enum class OverlapCounting { installed, every, alternate };

struct CountedPair {
    Symbol left, right;
    std::uint64_t count;
    bool recount = false;  ///< the count is an upper bound
};

/// Options of the trainer.
struct LearnSpec {
    std::int64_t merges = 0;             ///< pieces of two bases and more to learn, at most 65,000
    std::int32_t max_piece_length = 16;  ///< bases
    OverlapCounting counting = OverlapCounting::every;
    int threads = 1;
    bool only_certain = false;  ///< end where SentencePiece may choose otherwise
    std::int32_t most_sweeps =
        200;  ///< merges, a multiple of 100, that are made by sweeps at most; changes no result
};

struct LearntPiece {
    std::string text;
    std::uint64_t frequency;  ///< frequency of its pair when it was chosen
};

/// The symbols that the trainer has so far: the letters, then one a merge.
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
    std::size_t merges() const { return pieces.size(); }
    bool short_enough(Symbol left, Symbol right) const {
        return lengths[left] + lengths[right] <= max_piece_length_;
    }
    /// The text of a pair is a piece already, perhaps by another split.
    bool is_known(Symbol left, Symbol right) const { return by_text_.contains(texts[left] + texts[right]); }
    std::optional<Symbol> find(const std::string& text) const {
        const auto found = by_text_.find(text);
        return found == by_text_.end() ? std::nullopt : std::optional(found->second);
    }

    /// The symbol that the pair becomes.
    Symbol add(Symbol left, Symbol right, std::uint64_t frequency) {
        const auto merged = static_cast<Symbol>(size());
        texts.push_back(texts[left] + texts[right]);
        lengths.push_back(static_cast<std::uint16_t>(texts.back().size()));
        widths.push_back(static_cast<std::uint16_t>(widths[left] + widths[right]));
        parts.emplace_back(left, right);
        by_text_.emplace(texts.back(), merged);
        pieces.push_back({texts.back(), frequency});
        return merged;
    }

    /// Each symbol there is takes one position from now on.
    void narrow() { widths.assign(size(), 1); }

    std::vector<std::string> texts;                ///< by symbol
    std::vector<std::uint16_t> lengths;            ///< by symbol, in bases
    std::vector<std::uint16_t> widths;             ///< by symbol, in positions of the token array
    std::vector<std::pair<Symbol, Symbol>> parts;  ///< by symbol: what was merged; a letter's are itself
    std::vector<LearntPiece> pieces;               ///< in the order in which they were learned

private:
    std::int32_t max_piece_length_;
    std::unordered_map<std::string, Symbol> by_text_;
};

}  // namespace bigbird::tokenizer
