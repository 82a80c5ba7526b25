// SPDX-License-Identifier: Apache-2.0
// The rules of a byte-pair encoding: letters, and which two neighboring tokens are merged first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// A token's number inside the rules; its id is BpeRules::ids[number].
using Token = std::uint32_t;
inline constexpr Token no_token = 0xFFFFFFFF;
inline constexpr std::uint32_t never = 0xFFFFFFFF;  ///< the rank of a pair that is not merged

/// Encoding repeatedly merges the two neighbors of lowest rank, the leftmost of several, until no merge
/// applies.
class BpeRules {
public:
    struct Merge {
        std::uint32_t rank = never;
        Token merged = no_token;
    };

    BpeRules();
    /// Adds a token, whose text must be new.
    Token add(std::string_view text, std::int32_t id);
    std::optional<Token> find(std::string_view text) const;
    /// Adds a rule that merges left + right. An earlier rule for the same two tokens takes precedence.
    void add_merge(Token left, Token right, std::uint32_t rank, Token merged);
    Merge merge(Token left, Token right) const;
    /// Calls visit(left, right, rank) for each merge, in no particular order.
    template <typename Visit>
    void for_each_merge(Visit&& visit) const {
        for (const Slot& slot : slots_)
            if (slot.merge.rank != never) visit(slot.left, slot.right, slot.merge.rank);
    }

    std::size_t size() const { return texts.size(); }
    std::size_t merges() const { return merges_; }

    std::vector<std::string> texts;    ///< by token
    std::vector<std::int32_t> ids;     ///< by token
    std::array<Token, 256> letters{};  ///< by byte; no_token where unknown
    std::int32_t unknown_id = 0;
    bool fuse_unknown = true;  ///< neighboring unknown letters become one id

private:
    struct Slot {
        Token left = no_token, right = no_token;
        Merge merge;
    };
    /// The slot of a pair, or the empty slot where it would be inserted.
    std::size_t slot_of(Token left, Token right) const;
    std::vector<Slot> slots_;  ///< our own hash tables, because reading a tokenizer is mostly look-ups
    std::size_t merges_ = 0;
    /// The slot of a text.
    std::size_t slot_of(std::string_view text) const;
    std::vector<Token> by_text_;
};

}  // namespace bigbird::tokenizer
