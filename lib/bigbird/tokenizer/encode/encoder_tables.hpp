// SPDX-License-Identifier: Apache-2.0
// The exact encoder's inner loop and the packed tables that it reads.
//
// Two neighbors are compatible if no merge crosses the edge between them while their letters are encoded
// together (GitHub's `bpe` crate also encodes by the compatibility of pairs). A sequence of tokens is the
// encoding of its letters exactly if each two neighbors are compatible. (Suppose there is a merge across an
// edge, and take the first. Until then all merges were inside single tokens, in the same order as when only
// the edge's two tokens are encoded, so that merge would happen there too.)
//
// While a token's letters are encoded, the token at its edge changes at certain merges: these are the edge's
// stages, from a single letter to the token itself. A stage's bound is the highest rank among the merges from
// its beginning to the merge that ends it. A merge of rank r across the edge happens in the stages of both
// sides in which it comes before the merges of the ranks of their bounds do.
//
// So the loop takes the longest token at each position, checks it against its left neighbor, falls back to
// shorter tokens, and goes back a token if none fits. A dead-end position is never tried again, which keeps
// the time linear.
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// Finds the longest token that begins at a position. Text is given as letter numbers: A C G T first, then
/// the other letters that tokens use.
class TokenMatcher {
public:
    static constexpr std::uint8_t unknown_letter = 0xFF;
    /// Number of letters that may be read after any position. Text must be followed by at least this many
    /// bytes of any value.
    static constexpr std::size_t padding = 8;

    /// The tokens by number; among them every letter that they use.
    explicit TokenMatcher(std::span<const std::string> tokens);

    std::uint8_t letter_number(char letter) const { return numbers_[static_cast<unsigned char>(letter)]; }

    /// The longest token at `letters`, of which `size` (at least 1, all known) may be used.
    Token longest(const std::uint8_t* letters, std::size_t size) const {
        if (short_.nodes.empty()) return longest_in(long_, letters, size);
        const std::uint16_t token = longest_in(short_, letters, size);
        return token == Match<std::uint16_t>::none ? no_token : token;
    }

    /// Prefetches the memory that longest(letters) reads first, for any letters.
    void prefetch(const std::uint8_t* letters) const {
        std::uint64_t word;
        std::memcpy(&word, letters, sizeof word);
        const std::size_t position = pack(word & 0x0303030303030303);
        if (short_.nodes.empty())
            __builtin_prefetch(long_.jumps.data() + position);
        else
            __builtin_prefetch(short_.jumps.data() + position);
    }

    /// Eight letters below 4 as 16 bits, the first in the lowest.
    static std::size_t pack(std::uint64_t word) {
        word = (word | word >> 6) & 0x000F000F000F000F;
        word = (word | word >> 12) & 0x000000FF000000FF;
        return static_cast<std::size_t>((word | word >> 24) & 0xFFFF);
    }

private:
    static constexpr std::size_t jump = 8;  ///< letters matched by one look-up

    /// State of a walk: the node (0: nothing follows) and the longest token met since the last look.
    template <typename Number>
    struct Match {
        static constexpr Number none = static_cast<Number>(~Number{0});
        Number node = 0, token = none;
    };
    template <typename Number>
    struct Trie {
        std::vector<Match<Number>> nodes;  ///< [node * letters_ + letter]; node 1 is the root
        std::vector<Match<Number>> jumps;  ///< by eight letters
    };

    template <typename Number>
    Number longest_in(const Trie<Number>& trie, const std::uint8_t* letters, std::size_t size) const {
        const std::uint8_t* next = letters;
        const std::uint8_t* const end = letters + size;
        Match<Number> match{1, Match<Number>::none};
        std::uint64_t word;
        std::memcpy(&word, letters, sizeof word);
        if (size >= jump && (word & ~std::uint64_t{0x0303030303030303}) == 0) {
            match = trie.jumps[pack(word)];
            next += jump;
        }
        Number best = match.token;
        while (match.node != 0 && next != end) {
            match = trie.nodes[match.node * letters_ + *next++];
            best = match.token != Match<Number>::none ? match.token : best;
        }
        return best;
    }

    void insert(std::string_view text, Token token);
    void fill_jumps();
    void shorten();

    std::array<std::uint8_t, 256> numbers_{};
    std::size_t letters_ = 0;
    Trie<std::uint32_t> long_;   ///< used if the other one is empty
    Trie<std::uint16_t> short_;  ///< half the memory, if 16 bits suffice for nodes and tokens
};

/// The tokens that encodings can contain, renumbered: shorter ones first, so that the tokens at most edges
/// share a few cache lines.
struct ReachableTokens {
    explicit ReachableTokens(const BpeRules& rules);

    /// The last stage before the token itself of both its edges: the token there, and the bound.
    struct Edges {
        std::uint32_t right_bound = 0, left_bound = 0;
        std::uint32_t rank = 0;                   ///< rank of the merge of `left` and `right` that made it
        std::uint32_t latest = 0;                 ///< the highest rank of all merges that made the token
        Token right = no_token, left = no_token;  ///< new numbers; no_token for letters
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
    /// Appends the encoding of `size` letters (numbers of `matcher`, all known, at most 2^32 - 1). May read
    /// TokenMatcher::padding more bytes after them.
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
