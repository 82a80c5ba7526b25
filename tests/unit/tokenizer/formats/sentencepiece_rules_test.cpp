// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include "support/bpe_definition.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

SentencePieceModel model_of(const std::vector<std::pair<std::string, float>>& pieces) {
    SentencePieceModel model;
    model.is_bpe = true;
    model.pieces = {{"[PAD]", 0, PieceKind::control}, {"[UNK]", 0, PieceKind::unknown}};
    for (const auto& [text, score] : pieces) {
        model.pieces.push_back({text, score, PieceKind::normal});
    }
    return model;
}

std::string spell(const BpeRules& rules, const std::string& text) {
    std::string spelt;
    for (const Token token : encode_by_definition(rules, letters_of(rules, text))) {
        spelt += (spelt.empty() ? "" : " ") + rules.texts[token];
    }
    return spelt;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: the higher score merges first, whatever the ids") {
    const BpeRules rules =
        bpe_rules_of(model_of({{"CG", -3}, {"AC", -1}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    DOCTEST_CHECK(spell(rules, "ACG") == "AC G");
    DOCTEST_CHECK(spell(rules, "CCG") == "C CG");
    DOCTEST_CHECK(rules.ids[*rules.find("AC")] == 3);
    DOCTEST_CHECK(rules.merge(*rules.find("A"), *rules.find("C")).rank == 0);
    DOCTEST_CHECK(rules.merge(*rules.find("C"), *rules.find("G")).rank == 1);
    const BpeRules other =
        bpe_rules_of(model_of({{"CG", -1}, {"AC", -3}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    DOCTEST_CHECK(spell(other, "ACG") == "A CG");
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: of equal scores the leftmost pair merges first") {
    const BpeRules rules =
        bpe_rules_of(model_of({{"CG", -1}, {"AC", -1}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    DOCTEST_CHECK(rules.merge(*rules.find("A"), *rules.find("C")).rank ==
                  rules.merge(*rules.find("C"), *rules.find("G")).rank);
    DOCTEST_CHECK(spell(rules, "ACG") == "AC G");
    DOCTEST_CHECK(spell(rules, "CGACG") == "CG AC G");
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: a piece is merged from every split into two pieces") {
    const BpeRules rules =
        bpe_rules_of(model_of({{"AC", -1}, {"CG", -2}, {"ACG", -3}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    const auto merged = [&](const char* left, const char* right) {
        return rules.merge(*rules.find(left), *rules.find(right)).merged;
    };
    DOCTEST_CHECK(merged("AC", "G") == *rules.find("ACG"));
    DOCTEST_CHECK(merged("A", "CG") == *rules.find("ACG"));
    DOCTEST_CHECK(merged("G", "AC") == no_token);
    DOCTEST_CHECK(rules.merges() == 4);
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: control pieces are no text, letters need not be pieces") {
    const BpeRules rules = bpe_rules_of(model_of({{"AC", -1}, {"A", -2}}), "m");
    DOCTEST_CHECK(!rules.find("[PAD]"));
    DOCTEST_CHECK(!rules.find("[UNK]"));
    DOCTEST_CHECK(rules.unknown_id == 1);
    DOCTEST_REQUIRE(rules.letters['C'] != no_token);
    DOCTEST_CHECK(rules.ids[rules.letters['C']] == 1);  // unknown alone
    DOCTEST_CHECK(spell(rules, "AC") == "AC");          // but merged
    DOCTEST_CHECK(rules.letters['G'] == no_token);
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: pieces that DNA tokenizers do not have are named") {
    const auto message = [](const ModelPiece& piece) {
        SentencePieceModel model = model_of({{"A", -1}});
        model.pieces.push_back(piece);
        return message_of<InputError>([&] { bpe_rules_of(model, "x.model"); });
    };
    const std::string tail =
        " is user-defined, unused, a byte or not ASCII, which DNA tokenizers do not have; make the tokenizer "
        "with train-tokenizer";
    for (const PieceKind kind : {PieceKind::user_defined, PieceKind::unused, PieceKind::byte}) {
        DOCTEST_CHECK(message({"GATTACA", -2, kind}) == "x.model: piece 'GATTACA'" + tail);
    }
    DOCTEST_CHECK(message({"\xC3\x85", -2, PieceKind::normal}) == "x.model: piece '\xC3\x85'" + tail);
    DOCTEST_CHECK(message({"A", -2, PieceKind::normal}) == "x.model: piece 'A' occurs twice");
    SentencePieceModel unigram = model_of({{"A", -1}});
    unigram.is_bpe = false;
    DOCTEST_CHECK(message_of<InputError>([&] { bpe_rules_of(unigram, "x.model"); }) ==
                  "x.model: is not a byte-pair encoding (SentencePiece model type bpe)");
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: every split of a piece into two pieces is a merge") {
    const SentencePieceModel model =
        parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    DOCTEST_CHECK(rules.size() == 507);
    DOCTEST_CHECK(rules.unknown_id == 1);
    DOCTEST_CHECK(rules.letters['N'] == rules.find("N"));
    DOCTEST_CHECK(rules.letters['n'] == no_token);
    std::size_t merges = 0, wrong = 0;
    for (Token left = 0; left < rules.size(); ++left) {
        for (Token right = 0; right < rules.size(); ++right) {
            const auto merged = rules.find(rules.texts[left] + rules.texts[right]);
            const BpeRules::Merge merge = rules.merge(left, right);
            merges += merged.has_value();
            // ids, and so ranks, begin behind the five special pieces
            wrong += merged ? merge.merged != *merged ||
                                  merge.rank + 5 != static_cast<std::uint32_t>(rules.ids[*merged])
                            : merge.rank != never;
        }
    }
    DOCTEST_CHECK(wrong == 0);
    DOCTEST_CHECK(rules.merges() == merges);
    std::size_t visited = 0;
    rules.for_each_merge([&](Token, Token, std::uint32_t) { ++visited; });
    DOCTEST_CHECK(visited == merges);
}
