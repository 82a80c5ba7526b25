// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/bpe_rules: a token's text is new, and the first rule for two tokens stays") {
    BpeRules rules;
    const Token a = rules.add("A", 7), c = rules.add("C", 8), ac = rules.add("AC", 9),
                ca = rules.add("CA", 10);
    DOCTEST_CHECK_THROWS_AS(rules.add("A", 11), std::logic_error);
    DOCTEST_CHECK_THROWS_AS(rules.add("", 11), std::logic_error);
    DOCTEST_CHECK(rules.size() == 4);
    rules.add_merge(a, c, 5, ac);
    rules.add_merge(a, c, 1, ca);
    DOCTEST_CHECK(rules.merges() == 1);
    DOCTEST_CHECK(rules.merge(a, c).rank == 5);
    DOCTEST_CHECK(rules.merge(a, c).merged == ac);
    DOCTEST_CHECK(rules.merge(c, a).rank == never);
    DOCTEST_CHECK(rules.merge(a, a).merged == no_token);
    DOCTEST_CHECK(rules.letters['C'] == c);
    DOCTEST_CHECK(rules.letters[0] == no_token);
    DOCTEST_CHECK(rules.letters[255] == no_token);
    DOCTEST_CHECK(rules.ids == std::vector<std::int32_t>{7, 8, 9, 10});
}

namespace {

// Ranks in the order of the pieces, letters last, as SentencePiece scores them.
BpeRules rules_of(const std::vector<std::string>& pieces) {
    SentencePieceModel model;
    model.is_bpe = true;
    for (const std::string& text : pieces)
        model.pieces.push_back({text, -static_cast<float>(model.pieces.size()), PieceKind::normal});
    for (const char* letter : {"A", "C", "G", "T"})
        model.pieces.push_back({letter, -static_cast<float>(model.pieces.size()), PieceKind::normal});
    return bpe_rules_of(model, "rules");
}

std::string spell(const BpeRules& rules, const std::vector<Token>& tokens) {
    std::string text;
    for (const Token token : tokens)
        text += (text.empty() ? "" : " ") + rules.texts[token];
    return text;
}

}  // namespace

DOCTEST_TEST_CASE(
    "tokenizer/pair_compatibility: neighbours stay apart exactly if their letters encode to them") {
    bigbird::Rng rng(5);
    for (int round = 0; round < 60; ++round) {
        std::vector<std::string> pieces;
        BpeRules rules = rules_of({});
        while (pieces.size() <
               25) {  // in any order, merged from any two known ones: stranger than training makes them
            const auto pick = [&] {
                return rules.texts[static_cast<std::size_t>(
                    rng.between(0, static_cast<std::int64_t>(rules.size()) - 1))];
            };
            const std::string text = pick() + pick();
            if (text.size() <= 9 && !rules.find(text)) {
                pieces.insert(pieces.begin() + rng.between(0, static_cast<std::int64_t>(pieces.size())),
                              text);
                rules = rules_of(pieces);
            }
        }
        int wrong = 0, apart = 0;
        for (Token left = 0; left < rules.size(); ++left) {
            for (Token right = 0; right < rules.size(); ++right) {
                const auto l = trace_token(rules, left), r = trace_token(rules, right);
                if (l && r) {
                    const bool expected =
                        encode_by_definition(rules,
                                             letters_of(rules, rules.texts[left] + rules.texts[right])) ==
                        std::vector<Token>{left, right};
                    wrong += are_compatible(rules, l->right, r->left) != expected;
                    apart += expected;
                }
            }
        }
        DOCTEST_CHECK(wrong == 0);
        DOCTEST_CHECK(apart > 10);
    }
}

DOCTEST_TEST_CASE("tokenizer/pair_compatibility: of equal ranks the left merge comes first, on either side") {
    // CA and AC have one rank: between C and AC stands CA's merge, which lies further left and comes first.
    BpeRules rules;
    const Token a = rules.add("A", 0), c = rules.add("C", 1), ca = rules.add("CA", 2),
                ac = rules.add("AC", 3);
    rules.add_merge(c, a, 5, ca);
    rules.add_merge(a, c, 5, ac);
    const auto apart = [&](Token left, Token right) {
        return are_compatible(rules, trace_token(rules, left)->right, trace_token(rules, right)->left);
    };
    DOCTEST_CHECK(spell(rules, encode_by_definition(rules, letters_of(rules, "CAC"))) == "CA C");
    DOCTEST_CHECK_FALSE(apart(c, ac));
    DOCTEST_CHECK(apart(ca, c));
    DOCTEST_CHECK(apart(ca, ca));
    DOCTEST_CHECK_FALSE(apart(a, c));
    DOCTEST_CHECK(apart(a, a));
}

DOCTEST_TEST_CASE(
    "tokenizer/pair_compatibility: all neighbours that encoding gives stay apart, on real DNA") {
    const BpeRules rules = small_rules();
    int neighbours = 0, crossed = 0, wrong_merges = 0;
    for (const std::string& line : real_sentences()) {
        const auto tokens = encode_by_definition(rules, letters_of(rules, line.substr(0, 400)));
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i, ++neighbours) {
            const auto left = trace_token(rules, tokens[i]), right = trace_token(rules, tokens[i + 1]);
            DOCTEST_REQUIRE((left && right));
            crossed += !are_compatible(rules, left->right, right->left);
            // The token's two halves do not stay apart: they were merged.
            const std::string& text = rules.texts[tokens[i]];
            for (std::size_t cut = 1; cut < text.size(); ++cut) {
                const auto l = rules.find(text.substr(0, cut)), r = rules.find(text.substr(cut));
                const auto lt = l ? trace_token(rules, *l) : std::nullopt;
                const auto rt = r ? trace_token(rules, *r) : std::nullopt;
                wrong_merges += lt && rt && are_compatible(rules, lt->right, rt->left);
            }
        }
    }
    DOCTEST_CHECK(neighbours >= 2000);
    DOCTEST_CHECK(crossed == 0);
    DOCTEST_CHECK(wrong_merges == 0);
}
