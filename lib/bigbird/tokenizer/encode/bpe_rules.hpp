// SPDX-License-Identifier: Apache-2.0
// What a byte-pair encoding is: letters, and which two neighbouring tokens are merged first.
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

/// Encoding merges, while it can, the two neighbours of lowest rank, the leftmost of several.
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
    /// left + right is merged with this rank. An earlier rule for the same two stays.
    void add_merge(Token left, Token right, std::uint32_t rank, Token merged);
    Merge merge(Token left, Token right) const;
    /// Calls visit(left, right, rank) for each merge, in no particular order.
    template <typename Visit>
    void for_each_merge(Visit&& visit) const {
        for (const Slot& slot : slots_) {
            if (slot.merge.rank != never) {
                visit(slot.left, slot.right, slot.merge.rank);
            }
        }
    }

    std::size_t size() const { return texts.size(); }
    std::size_t merges() const { return merges_; }

    std::vector<std::string> texts;    ///< by token
    std::vector<std::int32_t> ids;     ///< by token
    std::array<Token, 256> letters{};  ///< by byte; no_token where unknown
    std::int32_t unknown_id = 0;
    bool fuse_unknown = true;  ///< neighbouring unknown letters become one id

private:
    struct Slot {
        Token left = no_token, right = no_token;
        Merge merge;
    };
    void grow();
    std::size_t home(Token left, Token right) const;

    std::vector<Slot> slots_;
    std::size_t merges_ = 0;
    std::vector<Token> by_text_;
    void index_text(Token token);
    std::size_t text_home(std::string_view text) const;
};

}  // namespace bigbird::tokenizer
