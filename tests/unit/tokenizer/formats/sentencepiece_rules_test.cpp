// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("sentencepiece_rules: every split of a piece into two pieces is a merge") {
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

DOCTEST_TEST_CASE("sentencepiece_rules: models of another kind are refused") {
    SentencePieceModel model;
    model.pieces = {{"<unk>", 0, PieceKind::unknown}, {"A", -1, PieceKind::normal}};
    DOCTEST_CHECK(message_of<InputError>([&] { bpe_rules_of(model, "x.model"); }) ==
                  "x.model: is not a byte-pair encoding (SentencePiece model type bpe)");
    model.is_bpe = true;
    DOCTEST_CHECK(bpe_rules_of(model, "x.model").size() == 1);
    model.pieces.push_back(
        {"\xE2\x96\x81"
         "A",
         -2, PieceKind::normal});
    DOCTEST_CHECK(message_of<InputError>([&] { bpe_rules_of(model, "x.model"); }).find("not ASCII") !=
                  std::string::npos);
    model.pieces.back() = {"A", -2, PieceKind::normal};
    DOCTEST_CHECK(message_of<InputError>([&] { bpe_rules_of(model, "x.model"); }) ==
                  "x.model: piece 'A' occurs twice");
}

DOCTEST_TEST_CASE("sentencepiece_rules: a letter that is no piece is unknown alone and merged with others") {
    SentencePieceModel model;
    model.is_bpe = true;
    model.pieces = {{"<unk>", 0, PieceKind::unknown}, {"NN", -1, PieceKind::normal}};
    const BpeRules rules = bpe_rules_of(model, "x.model");
    const Token n = rules.letters['N'];
    DOCTEST_REQUIRE(n != no_token);
    DOCTEST_CHECK(rules.ids[n] == 0);
}
