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

// Two neighbors are compatible if no merge crosses the edge between them while their letters are encoded
// together (GitHub's `bpe` crate also encodes by the compatibility of pairs). Compatibility follows only from
// the stages of both edges. A sequence of tokens is the encoding of its letters exactly if each two neighbors
// are compatible. (Suppose there is a merge across an edge, and take the first. Until then all merges were
// inside single tokens, in the same order as when only the edge's two tokens are encoded, so that merge would
// happen there too.) The rule in its plainest form is are_compatible() of the tests
// (tests/unit/tokenizer/bpe_oracle.hpp).

/// One stage in the construction of a token by merges: the token at its edge in this stage, and how long the
/// stage lasts. While a letter sequence is encoded, an edge changes at certain merges. `bound` is the highest
/// rank among the merges from this stage's beginning to the merge that ends it, or `never` for the last
/// stage, the token itself. A merge of rank r across the edge happens in this stage if it comes before the
/// merge of rank `bound` does.
struct EdgeStage {
    Token token;
    std::uint32_t bound;
};

struct TokenEdges {
    std::vector<EdgeStage> left,
        right;  ///< at the token's first and last letter, from single letters outwards
};

/// Encodes the token's own letters by the rules, slowly and plainly. Returns nullopt if the result is not the
/// token: then no encoding contains it.
std::optional<TokenEdges> trace_token(const BpeRules& rules, Token token);

}  // namespace bigbird::tokenizer
