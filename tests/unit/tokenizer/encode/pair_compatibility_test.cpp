// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/pair_compatibility.hpp"

#include "support/bpe_definition.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include <string>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

// Ranks in the order of the pieces, letters last, as SentencePiece scores them.
BpeRules rules_of(const std::vector<std::string>& pieces) {
    SentencePieceModel model;
    model.is_bpe = true;
    for (const std::string& text : pieces) {
        model.pieces.push_back({text, -static_cast<float>(model.pieces.size()), PieceKind::normal});
    }
    for (const char* letter : {"A", "C", "G", "T"}) {
        model.pieces.push_back({letter, -static_cast<float>(model.pieces.size()), PieceKind::normal});
    }
    return bpe_rules_of(model, "rules");
}

std::string spell(const BpeRules& rules, const std::vector<Token>& tokens) {
    std::string text;
    for (const Token token : tokens) {
        text += (text.empty() ? "" : " ") + rules.texts[token];
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/pair_compatibility: encoding by the definition") {
    const BpeRules rules = rules_of({"AA", "CA", "AAC", "GAAC"});
    const auto encode = [&](const std::string& text) {
        return spell(rules, encode_by_definition(rules, letters_of(rules, text)));
    };
    DOCTEST_CHECK(encode("AAAAA") == "AA AA A");
    DOCTEST_CHECK(encode("GAACA") == "G AA CA");
    DOCTEST_CHECK(encode("GAACC") == "GAAC C");
    DOCTEST_CHECK(encode("") == "");
}

DOCTEST_TEST_CASE(
    "tokenizer/pair_compatibility: what stood at a token's edges, and which tokens never come out") {
    const BpeRules rules = rules_of({"CA", "AA", "AAC", "GAAC", "ACA"});
    const auto edges = trace_token(rules, *rules.find("GAAC"));
    DOCTEST_REQUIRE(edges.has_value());
    DOCTEST_CHECK(edges->left.size() == 2);
    DOCTEST_CHECK(rules.texts[edges->left[0].token] == "G");
    DOCTEST_CHECK(edges->left[0].bound == 3);
    DOCTEST_CHECK(edges->left[1].bound == never);
    DOCTEST_CHECK(edges->right.size() == 3);
    DOCTEST_CHECK(rules.texts[edges->right[1].token] == "AAC");
    DOCTEST_CHECK(edges->right[0].bound == 2);
    DOCTEST_CHECK(trace_token(rules, *rules.find("ACA")).has_value());
    DOCTEST_CHECK(!trace_token(rules_of({"CA", "AC", "GACG"}), 2).has_value());
}

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
