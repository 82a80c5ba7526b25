// SPDX-License-Identifier: Apache-2.0
// What a byte-pair encoding is: letters, and which two neighbouring tokens are joined first.
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
inline constexpr std::uint32_t never = 0xFFFFFFFF;  ///< the rank of a pair that is not joined

/// Encoding joins, while it can, the two neighbours of lowest rank, the leftmost of several.
class BpeRules {
public:
    struct Join {
        std::uint32_t rank = never;
        Token joined = no_token;
    };

    BpeRules();
    /// Adds a token, whose text must be new.
    Token add(std::string_view text, std::int32_t id);
    std::optional<Token> find(std::string_view text) const;
    /// left + right is joined with this rank. An earlier rule for the same two stays.
    void add_join(Token left, Token right, std::uint32_t rank, Token joined);
    Join join(Token left, Token right) const;
    /// Calls visit(left, right, rank) for each join, in no particular order.
    template <typename Visit>
    void for_each_join(Visit&& visit) const {
        for (const Slot& slot : slots_) {
            if (slot.join.rank != never) {
                visit(slot.left, slot.right, slot.join.rank);
            }
        }
    }

    std::size_t size() const { return texts.size(); }
    std::size_t joins() const { return joins_; }

    std::vector<std::string> texts;    ///< by token
    std::vector<std::int32_t> ids;     ///< by token
    std::array<Token, 256> letters{};  ///< by byte; no_token where unknown
    std::int32_t unknown_id = 0;
    bool fuse_unknown = true;  ///< neighbouring unknown letters become one id

private:
    struct Slot {
        Token left = no_token, right = no_token;
        Join join;
    };
    void grow();
    std::size_t home(Token left, Token right) const;

    std::vector<Slot> slots_;
    std::size_t joins_ = 0;
    std::vector<Token> by_text_;
    void index_text(Token token);
    std::size_t text_home(std::string_view text) const;
};

}  // namespace bigbird::tokenizer
