// SPDX-License-Identifier: Apache-2.0
// Neighbours are compatible when they stay apart, that is when no merge crosses the edge between them while
// their letters are encoded together (the compatibility of pairs is also what GitHub's `bpe` crate encodes
// by). It follows from the stages of both edges alone, and decides encoding altogether: a sequence of tokens
// is the encoding of its letters exactly if each two neighbours stay apart. (Were there a merge across an
// edge, take the first; until then all merges happened inside single tokens, in the order in which they
// happen when the two tokens beside that edge are encoded alone, so it would happen there too.) The rule in
// its plainest form is are_compatible() of the tests (tests/support/bpe_definition.hpp).
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bigbird::tokenizer {

/// One stage in the making of a token: what stood at its edge, and how long. While a letter sequence is
/// encoded, an edge changes at certain merges; `bound` is the highest rank among the merges from this stage's
/// beginning to its end (the merge that ends it included), or `never` for the last stage, which is the token
/// itself. A merge of rank r across the edge happens in this stage if it comes before the merge of rank
/// `bound` does.
struct EdgeStage {
    Token token;
    std::uint32_t bound;
};

struct TokenEdges {
    std::vector<EdgeStage> left,
        right;  ///< at the token's first and last letter, from single letters outwards
};

/// Encodes the token's own letters by the rules, slowly and plainly. Nothing where that gives anything but
/// the token: then no encoding ever holds it.
std::optional<TokenEdges> trace_token(const BpeRules& rules, Token token);

}  // namespace bigbird::tokenizer
