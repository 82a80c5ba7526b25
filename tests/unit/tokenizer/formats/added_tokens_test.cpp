// SPDX-License-Identifier: Apache-2.0
// The fixture was made by Hugging Face's tokenizers: scripts/checks/make_added_token_fixtures.py.
#include "bigbird/tokenizer/formats/added_tokens.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::AddedTokens;
using tokenizer::DnaTokenizer;

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
