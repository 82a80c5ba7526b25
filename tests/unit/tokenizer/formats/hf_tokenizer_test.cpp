// SPDX-License-Identifier: Apache-2.0
// The fixtures were made by Hugging Face's tokenizers: scripts/checks/make_hf_fixtures.py.
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::DnaTokenizer, tokenizer::HfTokenizer;

namespace {

std::string merge(const std::vector<std::int32_t>& ids) {
    std::string text;
    for (const std::int32_t id : ids)
        text += (text.empty() ? "" : " ") + std::to_string(id);
    return text;
}

std::string refusal_of(const std::string& text) {
    const std::string what = message_of<InputError>([&] { HfTokenizer(text, "t.json"); });
    DOCTEST_REQUIRE(what.starts_with("t.json: "));
    const std::string tail = ", which this program does not understand in a tokenizer.json of DNA";
    return what.substr(8, what.ends_with(tail) ? what.size() - 8 - tail.size() : std::string::npos);
}

}  // namespace

DOCTEST_TEST_CASE("hf_tokenizer: the ids of a tokenizer that Hugging Face trained with GENA-LM's settings") {
    const DnaTokenizer tokenizer = DnaTokenizer::load(test_data("tokenizer/hf/gena_like.json"));
    DOCTEST_CHECK(tokenizer.vocab_size() == 600);
    std::istringstream lines(read_file(test_data("tokenizer/hf/encodings.tsv")));
    int count = 0;
    for (std::string text, ids, line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        DOCTEST_CAPTURE(text);
        std::vector<std::int32_t> ours = tokenizer.encode(text);
        ours.insert(ours.begin(), tokenizer.special_ids().cls);
        ours.push_back(tokenizer.special_ids().sep);
        DOCTEST_CHECK(merge(ours) == ids);
    }
    DOCTEST_CHECK(count > 60);
    DOCTEST_CHECK(tokenizer.decode(tokenizer.encode("GATTACA")) == "GATTACA");
    const auto spans = tokenizer.encode_with_spans(" ACGT" + std::string(15, 'N') + "ACGT ");
    DOCTEST_CHECK(spans.ids == tokenizer.encode("ACGT" + std::string(15, 'N') + "ACGT"));
    DOCTEST_CHECK(std::find(spans.spans.begin(), spans.spans.end(), tokenizer::TextSpan{5, 20}) !=
                  spans.spans.end());
    DOCTEST_CHECK(spans.spans.front().begin == 1);
    DOCTEST_CHECK(spans.spans.back().end == 24);
    DOCTEST_CHECK_THROWS_AS(tokenizer.decode(std::vector<std::int32_t>{600}), ConfigError);
}

namespace {

/// A small tokenizer.json by hand: four letters, "-" as a special letter, AC, GT and ACGT.
Json small_json() {
    const auto added = [](int id, const char* text) {
        return Json{{"id", id}, {"content", text}, {"special", true}};
    };
    return {{"added_tokens", {added(0, "[UNK]"), added(1, "[CLS]"), added(2, "[SEP]"), added(10, "-")}},
            {"normalizer", nullptr},
            {"pre_tokenizer", nullptr},
            {"post_processor", nullptr},
            {"model",
             {{"type", "BPE"},
              {"unk_token", "[UNK]"},
              {"fuse_unk", false},
              {"vocab",
               {{"[UNK]", 0},
                {"[CLS]", 1},
                {"[SEP]", 2},
                {"A", 3},
                {"C", 4},
                {"G", 5},
                {"T", 6},
                {"AC", 7},
                {"GT", 8},
                {"ACGT", 9},
                {"-", 10}}},
              {"merges", {"A C", "G T", "AC GT"}}}}};
}

DnaTokenizer read(const Json& json) {
    return DnaTokenizer::from_serialized(json.dump(), "t.json");
}

std::string ids_of(const Json& json, const std::string& text) {
    return merge(read(json).encode(text));
}

std::string refusal_of(const Json& json) {
    return refusal_of(json.dump());
}

Json changed(const std::string& path, const Json& value) {
    Json json = small_json();
    json[Json::json_pointer(path)] = value;
    return json;
}

Json replacement(const Json& pattern, const std::string& content) {
    return {{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
}

}  // namespace

DOCTEST_TEST_CASE("hf_tokenizer: merges by their order, from the vocabulary's ids") {
    DOCTEST_CHECK(ids_of(small_json(), "ACGT") == "9");
    DOCTEST_CHECK(ids_of(small_json(), "ACACG") == "7 7 5");
    DOCTEST_CHECK(ids_of(small_json(), "CGTA") == "4 8 3");
    DOCTEST_CHECK(ids_of(small_json(), "") == "");
    Json pairs = small_json();  // as newer versions write them
    const auto pair = [](const char* left, const char* right) { return Json::array({left, right}); };
    pairs["model"]["merges"] = Json::array({pair("A", "C"), pair("G", "T"), pair("AC", "GT")});
    DOCTEST_CHECK(ids_of(pairs, "ACGTGTAC") == ids_of(small_json(), "ACGTGTAC"));
    Json other = small_json();
    other["model"]["merges"] = {"G T", "AC GT", "A C"};  // AC is made too late for GT's turn, not for ACGT's
    DOCTEST_CHECK(ids_of(other, "ACGT") == "9");
    other["model"]["merges"] = {"A C", "G T"};
    DOCTEST_CHECK(ids_of(other, "ACGT") == "7 8");
}

DOCTEST_TEST_CASE("hf_tokenizer: letters that are no tokens are unknown, one by one or together") {
    DOCTEST_CHECK(ids_of(small_json(), "ANNC") == "3 0 0 4");
    DOCTEST_CHECK(ids_of(changed("/model/fuse_unk", true), "ANNC") == "3 0 4");
    DOCTEST_CHECK(ids_of(small_json(), "A-C") == "3 10 4");  // a special letter is a letter of text, too
    const HfTokenizer tokenizer(small_json().dump(), "t.json");
    DOCTEST_CHECK(tokenizer.special_id("-") == 10);
    DOCTEST_CHECK(tokenizer.special_id("[SEP]") == 2);
    DOCTEST_CHECK(tokenizer.special_id("[UNK]") == 0);
    DOCTEST_CHECK(tokenizer.special_id("[MASK]") == -1);
    DOCTEST_REQUIRE(tokenizer.texts().size() == 11);
    DOCTEST_CHECK(tokenizer.texts()[9] == "ACGT");
    DOCTEST_CHECK(tokenizer.texts()[1].empty());
    DOCTEST_CHECK(read(small_json()).decode(std::vector<std::int32_t>{1, 9, 0, 10, 2}) == "ACGT-");
    DOCTEST_CHECK_THROWS_AS(read(small_json()).decode(std::vector<std::int32_t>{-1}), ConfigError);
}

DOCTEST_TEST_CASE("hf_tokenizer: added tokens behind the vocabulary count, and spell nothing") {
    Json json = small_json();
    json["added_tokens"].push_back({{"id", 14}, {"content", "[MASK]"}, {"special", true}});
    const DnaTokenizer tokenizer = read(json);
    DOCTEST_CHECK(tokenizer.vocab_size() == 15);
    DOCTEST_CHECK(tokenizer.special_ids().mask == 14);
    DOCTEST_CHECK(tokenizer.decode(std::vector<std::int32_t>{3, 14, 12}) == "A");
}

DOCTEST_TEST_CASE("hf_tokenizer: normalizers work one after the other, nested or not") {
    const Json lower = {{"type", "Lowercase"}}, strip = {{"type", "Strip"}, {"strip_left", true}};
    const Json upper_a = replacement({{"String", "a"}}, "A"), c = replacement({{"Regex", "[cC]+"}}, "C");
    const auto sequence = [](const std::vector<Json>& parts) {
        return Json{{"type", "Sequence"}, {"normalizers", parts}};
    };
    const Json json = changed("/normalizer", sequence({strip, lower, sequence({upper_a, c})}));
    DOCTEST_CHECK(ids_of(json, " ACCc") == "7");
    DOCTEST_CHECK(ids_of(json, "AG") == "3 0");                            // g is unknown
    DOCTEST_CHECK(ids_of(changed("/normalizer", strip), " A ") == "3 0");  // the right one stays
    DOCTEST_CHECK(ids_of(changed("/normalizer", sequence({upper_a, lower})), "aA") == "0 0");
    const auto encoding = read(json).encode_with_spans("  AcCCGA");
    DOCTEST_CHECK(merge(encoding.ids) == "7 0 3");
    DOCTEST_CHECK(encoding.spans == std::vector<tokenizer::TextSpan>{{2, 6}, {6, 7}, {7, 8}});
}

DOCTEST_TEST_CASE("hf_tokenizer: nothing is merged across a split") {
    const Json split = {{"type", "Split"}, {"pattern", {{"Regex", "C+"}}}, {"behavior", "Isolated"}};
    DOCTEST_CHECK(ids_of(changed("/pre_tokenizer", split), "ACGTCC") == "3 4 8 4 4");
    const Json at_g = {{"type", "Split"}, {"pattern", {{"String", "G"}}}, {"behavior", "Isolated"}};
    const Json both = {{"type", "Sequence"}, {"pretokenizers", {split, at_g}}};
    DOCTEST_CHECK(ids_of(changed("/pre_tokenizer", both), "ACGTCC") == "3 4 5 6 4 4");
    const auto spans = read(changed("/pre_tokenizer", split)).encode_with_spans("ACGTCC").spans;
    DOCTEST_CHECK(spans == std::vector<tokenizer::TextSpan>{{0, 1}, {1, 2}, {2, 4}, {4, 5}, {5, 6}});
    Json inverted = split;
    inverted["invert"] = true;
    DOCTEST_CHECK(refusal_of(changed("/pre_tokenizer", inverted)) == "has the pre_tokenizer 'Split'");
    Json removed = split;
    removed["behavior"] = "Removed";
    DOCTEST_CHECK(refusal_of(changed("/pre_tokenizer", removed)) == "has the pre_tokenizer 'Split'");
    DOCTEST_CHECK(refusal_of(changed("/pre_tokenizer", {{"type", "ByteLevel"}})) ==
                  "has the pre_tokenizer 'ByteLevel'");
}

DOCTEST_TEST_CASE("hf_tokenizer: each setting that would change the ids is refused by its name") {
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        DOCTEST_CHECK(refusal_of(changed(std::string("/model/") + name, "##")) ==
                      std::string("sets ") + name);
        DOCTEST_CHECK(ids_of(changed(std::string("/model/") + name, ""), "AC") == "7");
    }
    for (const char* name : {"byte_fallback", "ignore_merges"}) {
        DOCTEST_CHECK(refusal_of(changed(std::string("/model/") + name, true)) ==
                      std::string("sets ") + name);
        DOCTEST_CHECK(ids_of(changed(std::string("/model/") + name, false), "AC") == "7");
    }
    DOCTEST_CHECK(refusal_of(changed("/model/type", "WordPiece")) == "has a model of type 'WordPiece'");
    DOCTEST_CHECK(refusal_of(changed("/model", nullptr)) == "has a model of type ''");
    DOCTEST_CHECK(refusal_of(changed("/model/unk_token", nullptr)) == "has no unk_token in its vocabulary");
    DOCTEST_CHECK(refusal_of(changed("/model/unk_token", "<unk>")) == "has no unk_token in its vocabulary");
    DOCTEST_CHECK(refusal_of(changed("/normalizer", {{"type", "NFC"}})) == "has the normalizer 'NFC'");
    DOCTEST_CHECK(refusal_of(changed("/normalizer", replacement({{"Regex", "\\s"}}, ""))) ==
                  "has the pattern '\\s'");
    DOCTEST_CHECK(refusal_of(changed("/post_processor", {{"type", "ByteLevel"}})) ==
                  "has the post_processor 'ByteLevel'");
}

DOCTEST_TEST_CASE("hf_tokenizer: merges must be two tokens of the vocabulary that make a third") {
    const auto with = [](const Json& merge) { return changed("/model/merges/2", merge); };
    DOCTEST_CHECK(refusal_of(with("ACGT")) == "has the merge \"ACGT\"");
    DOCTEST_CHECK(refusal_of(with(7)) == "has the merge 7");
    DOCTEST_CHECK(refusal_of(with({"A", "C", "G"})) == "has the merge [\"A\",\"C\",\"G\"]");
    const auto unknown = [](const std::string& merge) {
        return "its merge " + merge + " names tokens that are not in the vocabulary";
    };
    DOCTEST_CHECK(refusal_of(with("A X")) == unknown("\"A X\""));
    DOCTEST_CHECK(refusal_of(with("X A")) == unknown("\"X A\""));
    DOCTEST_CHECK(refusal_of(with("T A")) == unknown("\"T A\""));
    DOCTEST_CHECK(refusal_of(with({"T", "A"})) == unknown("[\"T\",\"A\"]"));
}

DOCTEST_TEST_CASE("hf_tokenizer: templates are known, or refused") {
    const Json part = {{"SpecialToken", {{"id", "[CLS]"}, {"type_id", 0}}}};
    const Json a = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
    const Json tokens = {{"[CLS]", {{"id", "[CLS]"}, {"ids", {1}}}}};
    const Json good = {{"type", "TemplateProcessing"}, {"single", {part, a}}, {"special_tokens", tokens}};
    DOCTEST_CHECK(ids_of(changed("/post_processor", good), "AC") == "7");
    const Json roberta = {{"type", "RobertaProcessing"}, {"sep", {"[SEP]", 2}}, {"cls", {"[CLS]", 1}}};
    DOCTEST_CHECK(ids_of(changed("/post_processor", roberta), "AC") == "7");
}

DOCTEST_TEST_CASE("hf_tokenizer: values of another kind and files cut short are InputErrors") {
    const auto is_of_no_form = [](const Json& json) {
        return refusal_of(json).starts_with("is no tokenizer.json of Hugging Face's form: ");
    };
    DOCTEST_CHECK(is_of_no_form(changed("/model/vocab/A", "three")));
    DOCTEST_CHECK(is_of_no_form(changed("/added_tokens/0", {{"content", "[UNK]"}, {"special", true}})));
    DOCTEST_CHECK(is_of_no_form(changed("/added_tokens/0/id", "zero")));
    DOCTEST_CHECK(is_of_no_form(changed("/model/merges/0", {1, 2})));
    const std::string whole = small_json().dump();
    for (std::size_t size = 0; size < whole.size(); ++size)
        DOCTEST_CHECK_THROWS_AS(HfTokenizer(whole.substr(0, size), "t.json"), InputError);
    for (const char* text : {"[]", "7", "null", "\"BPE\"", "{}", "{\"model\":[]}"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK_THROWS_AS(HfTokenizer(text, "t.json"), InputError);
    }
}

DOCTEST_TEST_CASE("hf_tokenizer: ids that cannot number tokens, and empty tokens, are refused") {
    for (const Json& id :
         {Json(-1), Json(4'194'304), Json(INT64_MAX), Json(UINT64_MAX), Json(1e30), Json(7.5)}) {
        DOCTEST_CAPTURE(id.dump());
        const std::string refusal =
            "has the id " + id.dump() + " where ids are whole numbers from 0 to 4194303";
        DOCTEST_CHECK(refusal_of(changed("/model/vocab/A", id)) == refusal);
        DOCTEST_CHECK(refusal_of(changed("/added_tokens/0/id", id)) == refusal);
    }
    Json json = small_json();
    json["model"]["vocab"][""] = 30;
    DOCTEST_CHECK(refusal_of(json) == "has an empty token");
}

DOCTEST_TEST_CASE("hf_tokenizer: a text of too many levels is none") {
    const std::string many(200'000, '[');
    DOCTEST_CHECK_THROWS_AS(HfTokenizer("{\"model\":" + many, "t.json"), InputError);
}
