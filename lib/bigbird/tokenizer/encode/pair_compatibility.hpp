// SPDX-License-Identifier: Apache-2.0
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

/// Encodes letters by the definition, merge by merge, in quadratic time: the readable twin of ExactEncoder.
std::vector<Token> encode_by_definition(const BpeRules& rules, std::vector<Token> letters);

/// Whether the pair is compatible: neighbours `left` and `right` stay apart when their letters are encoded
/// together; both must be traceable, given their right and left edge (the compatibility of pairs is also what
/// GitHub's `bpe` crate encodes by). This decides encoding altogether: a sequence of tokens is the encoding
/// of its letters exactly if each two neighbours stay apart. (Were there a merge across an edge, take the
/// first; until then all merges happened inside single tokens, in the order in which they happen when the two
/// tokens beside that edge are encoded alone, so it would happen there too.)
bool are_compatible(const BpeRules& rules, const std::vector<EdgeStage>& right_of_left,
                    const std::vector<EdgeStage>& left_of_right);

}  // namespace bigbird::tokenizer
