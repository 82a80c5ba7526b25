// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/hf_normalizer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <regex>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using bigbird::testing::random_number;
using bigbird::tokenizer::NormalizedString;
using bigbird::tokenizer::TextPattern;
using bigbird::tokenizer::TextSpan;
using tokenizer::AddedTokens;
using tokenizer::DnaTokenizer;

namespace {

std::string replaced(const std::string& text, const TextPattern& pattern, const std::string& content) {
    NormalizedString traced(text, false);
    traced.replace(pattern, content);
    DOCTEST_CHECK(traced.origins.empty());
    return traced.text;
}

}  // namespace

DOCTEST_TEST_CASE("hf_normalizer: other expressions are not taken for something else") {
    for (const char* expression : {"",
                                   "N*",
                                   "(N)",
                                   "[a-z]",
                                   "N{10}",
                                   "N{1,3}",
                                   "\\s+",
                                   "[",
                                   "[]",
                                   "NN",
                                   "N{,}",
                                   ".",
                                   "N{0,}",
                                   "N{-1,}",
                                   "N{ 2,}",
                                   "N{2 ,}",
                                   "N{99999999999999999999,}",
                                   "N++",
                                   "[A]]",
                                   "[^]",
                                   "[a&&b]",
                                   "[A^]",
                                   "+",
                                   "{2,}"}) {
        DOCTEST_CAPTURE(expression);
        DOCTEST_CHECK(!TextPattern::regex(expression));
    }
}

DOCTEST_TEST_CASE("hf_normalizer: what std::regex replaces, on texts of all kinds") {
    bigbird::Rng rng(41);
    for (const std::string expression : {"N", "N+", "N{3,}", "N{10,}", "[aA]", "[ac]+", "[^ACGT]", "[^ACGT]+",
                                         "[^ACGTN]{2,}", "a{1,}", "[tuU]"}) {
        const TextPattern pattern = TextPattern::regex(expression).value();
        const std::regex twin(expression, std::regex::extended);
        for (const std::string letters : {"N", "AN", "ACGTN", "aAcCgGtTuUN", "acN \n-"}) {
            const auto texts = bigbird::testing::random_texts(rng, letters, 20, 4);
            for (const std::string& text : texts) {
                DOCTEST_CAPTURE(expression);
                DOCTEST_CAPTURE(text);
                DOCTEST_CHECK(replaced(text, pattern, "<x>") == std::regex_replace(text, twin, "<x>"));
            }
        }
    }
}

DOCTEST_TEST_CASE("hf_normalizer: letters beyond ASCII, literals and runs") {
    DOCTEST_CHECK(replaced("ACGCGG", TextPattern::literal("CG"), "x") == "AxxG");
    DOCTEST_CHECK(replaced("A\xC3\x85"
                           "A",
                           TextPattern::regex("[^ACGT]").value(), "N") == "ANNA");
    DOCTEST_CHECK(replaced("a-b", TextPattern::regex("-").value(), "") == "ab");
    DOCTEST_CHECK(replaced("NNNN", TextPattern::regex("N{1,}").value(), "N") == "N");
}

DOCTEST_TEST_CASE("hf_normalizer: blanks go from the ends asked for, with what tells their origin") {
    const auto stripped = [](const std::string& text, bool left, bool right) {
        NormalizedString plain(text, false), traced(text, true);
        plain.strip(left, right);
        traced.strip(left, right);
        DOCTEST_CHECK(plain.text == traced.text);
        DOCTEST_CHECK(traced.origins.size() == traced.text.size());
        for (std::size_t i = 0; i < traced.text.size(); ++i)
            DOCTEST_CHECK(text[traced.origins[i].begin] == traced.text[i]);
        return plain.text;
    };
    DOCTEST_CHECK(stripped(" \t\n\v\f\rA C\n", true, true) == "A C");
    DOCTEST_CHECK(stripped(" A ", true, false) == "A ");
    DOCTEST_CHECK(stripped(" A ", false, true) == " A");
    DOCTEST_CHECK(stripped(" A ", false, false) == " A ");
    for (const std::string blank : {"", " ", "\n\n\n"}) {
        DOCTEST_CHECK(stripped(blank, true, false).empty());
        DOCTEST_CHECK(stripped(blank, false, true).empty());
        DOCTEST_CHECK(stripped(blank, true, true).empty());
    }
}

DOCTEST_TEST_CASE("hf_normalizer: through any replacements, letters come in order from where they stood") {
    bigbird::Rng rng(42);
    const std::vector<TextPattern> patterns{TextPattern::regex("N{3,}").value(),
                                            TextPattern::regex("[aA]").value(), TextPattern::literal("CG"),
                                            TextPattern::regex("[^ACGTN]+").value()};
    for (const std::string& text : bigbird::testing::random_texts(rng, "ACGTNa ", 60, 3)) {
        NormalizedString traced(text, true);
        for (int step = 0; step < 4; ++step) {
            const std::string content = std::vector<std::string>{"", "-", "TT", "GNA"}[random_number(rng, 4)];
            traced.replace(patterns[random_number(rng, patterns.size())], content);
        }
        DOCTEST_REQUIRE(
            (traced.origins.size() == traced.text.size() || text.empty() || traced.origins.empty()));
        std::size_t last_begin = 0, last_end = 0;
        for (const TextSpan& span : traced.origins) {
            DOCTEST_REQUIRE(span.begin < span.end);
            DOCTEST_REQUIRE(span.end <= text.size());
            DOCTEST_CHECK(span.begin >= last_begin);
            DOCTEST_CHECK(span.end >= last_end);
            last_begin = span.begin;
            last_end = span.end;
        }
    }
}

// The fixture was made by Hugging Face's tokenizers: scripts/checks/make_added_token_fixtures.py.

namespace {

Json gena_like_with(const Json& normalizer, const Json& added) {
    Json json = Json::parse(read_file(test_data("tokenizer/hf/gena_like.json")));
    json["normalizer"] = normalizer;
    json["added_tokens"] = added;
    return json;
}

}  // namespace

DOCTEST_TEST_CASE("added_tokens: ids and spans are those of Hugging Face") {
    const Json cases = Json::parse(read_file(test_data("tokenizer/hf/added_tokens.json")));
    DOCTEST_REQUIRE(cases.size() == 15);
    for (const Json& one : cases) {
        const Json file = gena_like_with(one["normalizer"], one["added_tokens"]);
        const DnaTokenizer tokenizer = DnaTokenizer::from_serialized(file.dump(), "t.json");
        for (const Json& row : one["rows"]) {
            const auto text = row[0].get<std::string>();
            DOCTEST_CAPTURE(one["added_tokens"].dump());
            DOCTEST_CAPTURE(text);
            const tokenizer::Encoding encoding = tokenizer.encode_with_spans(text);
            DOCTEST_CHECK(Json(encoding.ids) == row[1]);
            DOCTEST_CHECK(tokenizer.encode(text) == encoding.ids);
            Json spans = Json::array();
            for (const tokenizer::TextSpan span : encoding.spans)
                spans.push_back(Json::array({span.begin, span.end}));
            // Hugging Face says that "-" comes from the last N of a run, we say the run.
            DOCTEST_CHECK((spans == row[2] || text.find("NNNNNNNNNN") != std::string::npos));
        }
    }
}

DOCTEST_TEST_CASE("added_tokens: an added motif spells its bases, a special name none") {
    const auto added = [](int id, const char* content, bool special) {
        return Json{{"id", id}, {"content", content}, {"special", special}};
    };
    const Json file = gena_like_with(
        nullptr, {added(600, "TATAAA", false), added(601, "CACGTG", true), added(602, "<sep>", true)});
    const DnaTokenizer tokenizer = DnaTokenizer::from_serialized(file.dump(), "t.json");
    DOCTEST_CHECK(tokenizer.encode("TATAAACACGTG<sep>") == std::vector<std::int32_t>{600, 601, 602});
    DOCTEST_CHECK(tokenizer.piece_length(600) == 6);
    DOCTEST_CHECK(tokenizer.piece_length(601) == 6);
    DOCTEST_CHECK(tokenizer.piece_length(602) == 0);
    DOCTEST_CHECK(tokenizer.decode(std::vector<std::int32_t>{600, 602, 601}) == "TATAAACACGTG");
}

DOCTEST_TEST_CASE("added_tokens: what no text can be matched with is refused") {
    const auto refusal = [](const Json& token, const Json& normalizer) {
        return message_of<InputError>([&] {
            DnaTokenizer::from_serialized(gena_like_with(normalizer, Json::array({token})).dump(), "t.json");
        });
    };
    DOCTEST_CHECK(refusal({{"id", 700}, {"content", "A"}}, nullptr)
                      .find("has the added token 'A' with the id 700 and in its vocabulary with the id ") !=
                  std::string::npos);
    const Json strip = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}};
    DOCTEST_CHECK(refusal({{"id", 700}, {"content", " "}, {"normalized", true}}, strip)
                      .find("has the added token ' ', of which its normalizer leaves nothing") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("added_tokens: parts touch, and the leftmost and longest token wins") {
    AddedTokens tokens;
    tokens.add({.content = "TA", .id = 1});
    tokens.add({.content = "TATA", .id = 2});
    tokens.add({.content = "TA", .id = 3});
    DOCTEST_CHECK(tokens.split("").empty());
    DOCTEST_CHECK(tokens.split("CATATATAG") ==
                  std::vector<AddedTokens::Part>{{0, 2, -1}, {2, 6, 2}, {6, 8, 1}, {8, 9, -1}});
}
