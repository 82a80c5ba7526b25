// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding by its definition: what the encoders are held against.
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"
#include "bigbird/tokenizer/encode/pair_compatibility.hpp"

#include <string_view>
#include <vector>

namespace bigbird::testing {

/// The rules' letters of a text, no_token where there is none.
inline std::vector<tokenizer::Token> letters_of(const tokenizer::BpeRules& rules, std::string_view text) {
    std::vector<tokenizer::Token> letters;
    for (const char letter : text) {
        letters.push_back(rules.letters[static_cast<unsigned char>(letter)]);
    }
    return letters;
}

/// Merges the two neighbours of lowest rank, the leftmost of several, until none can be merged.
inline std::vector<tokenizer::Token> encode_by_definition(const tokenizer::BpeRules& rules,
                                                          std::vector<tokenizer::Token> tokens) {
    while (true) {
        std::size_t at = 0;
        tokenizer::BpeRules::Merge best;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const auto merge = rules.merge(tokens[i], tokens[i + 1]);
            if (merge.rank < best.rank) {
                best = merge;
                at = i;
            }
        }
        if (best.rank == tokenizer::never) {
            return tokens;
        }
        tokens[at] = best.merged;
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

/// Whether two traceable tokens stay apart when their letters are encoded together, by the stages of their
/// edges: the slow twin of what the encoder's tables tell.
inline bool are_compatible(const tokenizer::BpeRules& rules,
                           const std::vector<tokenizer::EdgeStage>& right_of_left,
                           const std::vector<tokenizer::EdgeStage>& left_of_right) {
    auto left = right_of_left.begin(), right = left_of_right.begin();
    while (true) {
        const std::uint32_t rank = rules.merge(left->token, right->token).rank;
        // Equal ranks go from left to right: inside the left token, across the edge, inside the right token.
        if (rank < left->bound && rank <= right->bound && rank != tokenizer::never) {
            return false;
        }
        if (left->bound == tokenizer::never && right->bound == tokenizer::never) {
            return true;
        }
        ++(left->bound <= right->bound ? left : right);
    }
}

}  // namespace bigbird::testing
