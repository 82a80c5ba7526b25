// SPDX-License-Identifier: Apache-2.0
// The exact encoder's inner loop and the packed tables that it reads.
//
// A token sequence is the encoding of its letters exactly if each two neighbours stay apart
// (pair_compatibility.hpp). So the loop takes the longest token at each position, checks it against its left
// neighbour, falls back to shorter tokens, and goes back a token where none fits; a position from which no
// sequence goes on is never tried again, which keeps the time linear.
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"
#include "bigbird/tokenizer/encode/token_matcher.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::tokenizer {

/// The tokens that encodings can hold, numbered anew: shorter ones first, so that those at most edges share
/// few cache lines.
struct ReachableTokens {
    explicit ReachableTokens(const BpeRules& rules);

    /// What a token's edges were made of: the token that stood there before, and the bound of that stage
    /// (pair_compatibility.hpp).
    struct Edges {
        std::uint32_t right_bound = 0, left_bound = 0;
        std::uint32_t rank = 0;                   ///< of the merge of `left` and `right` that made it
        std::uint32_t latest = 0;                 ///< the highest rank of all merges that made the token
        Token right = no_token, left = no_token;  ///< new numbers; no_token: a letter, which nothing made
    };
    std::vector<std::string> texts;  ///< by new number
    std::vector<std::int32_t> ids;   ///< by new number
    std::vector<Edges> edges;        ///< by new number
    std::vector<Token> shorter;  ///< by new number: the longest token that this one begins with, or no_token
    std::vector<Token> number_of;    ///< by the rules' token; no_token where unreachable
    std::vector<std::int32_t> lost;  ///< ids of unreachable pieces, ascending
    std::size_t longest = 1;
};

struct TokenAt {
    std::uint32_t begin;  ///< letters before it
    Token token;          ///< new number
    bool operator==(const TokenAt&) const = default;
};

class EncoderTables {
public:
    virtual ~EncoderTables() = default;
    /// Appends the encoding of `size` letters (numbers of `matcher`, all known, at most 2^32 - 1), behind
    /// which TokenMatcher::padding more may be read.
    virtual void encode(const std::uint8_t* letters, std::size_t size,
                        std::vector<TokenAt>& tokens) const = 0;

    const TokenMatcher& matcher() const { return matcher_; }

protected:
    explicit EncoderTables(const ReachableTokens& tokens) : matcher_(tokens.texts) {}
    TokenMatcher matcher_;
};

/// Tables of 16-bit numbers where they suffice (65,000 tokens and ranks), else of 32-bit ones.
std::unique_ptr<const EncoderTables> make_encoder_tables(const ReachableTokens& tokens);

}  // namespace bigbird::tokenizer
