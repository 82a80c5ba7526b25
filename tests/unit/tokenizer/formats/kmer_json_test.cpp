// SPDX-License-Identifier: Apache-2.0
// kmers_3_saved.json is our file as transformers saves it again: scripts/checks/make_kmer_fixtures.py.
#include "bigbird/tokenizer/formats/kmer_json.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <functional>
#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::kmer_json;
using tokenizer::kmer_length_of_json;

DOCTEST_TEST_CASE("kmer_json: a regular expression cuts, words have the encoder's ids") {
    const Json json = Json::parse(kmer_json(2));
    DOCTEST_CHECK(json["pre_tokenizer"]["pattern"]["Regex"] == "[ACGT]{2}|[ACGTN]");
    DOCTEST_CHECK(json["model"]["type"] == "WordLevel");
    std::string words;
    for (const auto& [word, id] : json["model"]["vocab"].items())
        words += word + ' ' + id.dump() + ' ';
    DOCTEST_CHECK(words ==
                  "[PAD] 0 [UNK] 1 [CLS] 2 [SEP] 3 [MASK] 4 A 5 C 6 G 7 T 8 N 9 AA 10 AC 11 AG 12 AT 13 "
                  "CA 14 CC 15 CG 16 CT 17 GA 18 GC 19 GG 20 GT 21 TA 22 TC 23 TG 24 TT 25 ");
    DOCTEST_CHECK_THROWS_AS(kmer_json(0), ConfigError);
    DOCTEST_CHECK_THROWS_AS(kmer_json(13), ConfigError);
}

DOCTEST_TEST_CASE("kmer_json: the length is read back, however the text is laid out") {
    for (const int k : {1, 2, 3, 6}) {
        DOCTEST_CHECK(kmer_length_of_json(kmer_json(k)) == k);
        DOCTEST_CHECK(kmer_length_of_json(nlohmann::json::parse(kmer_json(k)).dump()) == k);
    }
    DOCTEST_CHECK(kmer_length_of_json(read_file(test_data("tokenizer/hf/kmers_3_saved.json"))) == 3);
}

DOCTEST_TEST_CASE("kmer_json: what says anything else has no length") {
    DOCTEST_CHECK(!kmer_length_of_json(R"({"pattern": {"Regex": "[ACGT]{12}|[ACGTN]"}})"));
    const auto refused = [](const std::function<void(Json&)>& change) {
        Json json = Json::parse(kmer_json(2));
        change(json);
        return !kmer_length_of_json(json.dump(2) + '\n');
    };
    DOCTEST_CHECK_FALSE(refused([](Json&) {}));
    DOCTEST_CHECK(refused([](Json& json) { json["model"]["vocab"]["AC"] = 12; }));
    DOCTEST_CHECK(refused([](Json& json) { json["model"]["vocab"].erase("TT"); }));
    DOCTEST_CHECK(refused([](Json& json) { json["model"]["vocab"]["NN"] = 26; }));
    DOCTEST_CHECK(refused([](Json& json) { json["model"]["unk_token"] = "N"; }));
    DOCTEST_CHECK(refused([](Json& json) { json["normalizer"] = nullptr; }));
    DOCTEST_CHECK(refused([](Json& json) { json["post_processor"] = nullptr; }));
    DOCTEST_CHECK(refused([](Json& json) { json["added_tokens"].erase(4); }));
    for (const char* pattern : {"[ACGT]{3}|[ACGTN]", "[ACGT]{0}|[ACGTN]", "[ACGT]{13}|[ACGTN]",
                                "[ACGT]{2}|[ACGT]", "[ACGT]{02}|[ACGTN]"})
        DOCTEST_CHECK(refused([&](Json& json) { json["pre_tokenizer"]["pattern"]["Regex"] = pattern; }));
    const std::string whole = kmer_json(2);
    for (std::size_t length = 0; length + 2 < whole.size(); length += 50)
        DOCTEST_CHECK_FALSE(kmer_length_of_json(whole.substr(0, length)));
    DOCTEST_CHECK_FALSE(kmer_length_of_json("[ACGT]{2}|[ACGTN]"));
}
