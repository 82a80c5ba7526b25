// SPDX-License-Identifier: Apache-2.0
// kmers_3_saved.json is our file as transformers saves it again: scripts/checks/make_kmer_fixtures.py.
#include "bigbird/tokenizer/encode/kmer_encoder.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;

using tokenizer::KmerEncoder, tokenizer::kmer_json, tokenizer::kmer_length_of_json;

namespace {

/// The vocabulary, written down: every k-mer by appending letters to all shorter ones.
std::map<std::string, std::int32_t> vocabulary(int k) {
    std::vector<std::string> kmers{""};
    for (int i = 0; i < k; ++i) {
        std::vector<std::string> longer;
        for (const std::string& kmer : kmers)
            for (const char letter : std::string("ACGT"))
                longer.push_back(kmer + letter);
        kmers = longer;
    }
    std::map<std::string, std::int32_t> ids{{"A", 5}, {"C", 6}, {"G", 7}, {"T", 8}, {"N", 9}};
    for (std::size_t i = 0; k > 1 && i < kmers.size(); ++i)
        ids[kmers[i]] = static_cast<std::int32_t>(10 + i);
    return ids;
}

/// The definition: the text is cut at every N, each run into k-mers from its left end.
std::vector<std::string> cut(std::string text, std::size_t k) {
    std::transform(text.begin(), text.end(), text.begin(), normalised_base);
    std::vector<std::string> pieces;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('N', begin), text.size());
        std::string run = text.substr(begin, end - begin);
        for (; run.size() >= k; run.erase(0, k))
            pieces.push_back(run.substr(0, k));
        for (const char letter : run)
            pieces.emplace_back(1, letter);
        if (end < text.size()) pieces.emplace_back("N");
        begin = end + 1;
    }
    return pieces;
}

void check_by_definition(int k, const std::map<std::string, std::int32_t>& ids, const std::string& text) {
    const KmerEncoder encoder(k);
    const auto pieces = cut(text, static_cast<std::size_t>(k));
    const auto encoding = encoder.encode(text, true);
    DOCTEST_CAPTURE(text);
    DOCTEST_REQUIRE(encoding.ids.size() == pieces.size());
    std::size_t position = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        DOCTEST_CHECK(encoding.ids[i] == ids.at(pieces[i]));
        DOCTEST_CHECK(encoding.spans[i] == tokenizer::TextSpan{position, position + pieces[i].size()});
        DOCTEST_CHECK(encoder.spelling(encoding.ids[i]) == pieces[i]);
        position += pieces[i].size();
    }
    DOCTEST_CHECK(position == text.size());
    DOCTEST_CHECK(encoder.encode(text, false).ids == encoding.ids);
}

}  // namespace

DOCTEST_TEST_CASE("kmer_encoder: ids by hand") {
    using Ids = std::vector<std::int32_t>;
    const auto ids = [](int k, const char* dna) { return KmerEncoder(k).encode(dna, false).ids; };
    DOCTEST_CHECK(ids(1, "ACGTN") == Ids{5, 6, 7, 8, 9});
    DOCTEST_CHECK(ids(3, "AAAAACTTT") == Ids{10, 11, 73});
    DOCTEST_CHECK(ids(3, "ACGNNACGTNAC") == Ids{16, 9, 9, 16, 8, 9, 5, 6});
    DOCTEST_CHECK(ids(3, "acgRuuU") == Ids{16, 9, 73});
    DOCTEST_CHECK(ids(3, "").empty());
    DOCTEST_CHECK(ids(12, "TTTTTTTTTTTT") == Ids{10 + (1 << 24) - 1});
    DOCTEST_CHECK(ids(12, "TTTTTTTTTTT") == Ids(11, 8));
}

DOCTEST_TEST_CASE("kmer_encoder: the definition's pieces, with N at every place and at every length") {
    for (const int k : {1, 2, 3, 6}) {
        const auto ids = vocabulary(k);
        DOCTEST_CHECK(KmerEncoder(k).vocab_size() == static_cast<std::int32_t>(5 + ids.size()));
        const std::string sequence = "GATTACACCGGTTGCAACGTATCG";
        for (std::size_t length = 0; length <= sequence.size(); ++length) {
            check_by_definition(k, ids, sequence.substr(0, length));
            for (std::size_t n = 0; n < length; ++n) {
                std::string text = sequence.substr(0, length);
                text[n] = 'N';
                check_by_definition(k, ids, text);
            }
        }
    }
}

DOCTEST_TEST_CASE("kmer_encoder: the definition's pieces of random letters of all kinds") {
    Rng rng(7);
    for (const int k : {1, 3, 5, 6}) {
        const auto ids = vocabulary(k);
        for (const std::string letters : {"ACGT", "ACGTacgtuU", "ACGTN", "acgtRYSWKMBDHVn-.* \n", "N"}) {
            for (int i = 0; i < 10; ++i) {
                std::string text(rng.next() % 200, ' ');
                for (char& letter : text)
                    letter = letters[rng.next() % letters.size()];
                check_by_definition(k, ids, text);
            }
        }
        std::string bytes(256, ' ');
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(i);
        check_by_definition(k, ids, bytes);
    }
}

DOCTEST_TEST_CASE("kmer_encoder: k-mers of no letter, or of more than twelve, are refused") {
    for (const int k : {-1, 0, 13, 1000})
        DOCTEST_CHECK(message_of<ConfigError>([&] { KmerEncoder encoder(k); }) ==
                      "k-mers have 1 to 12 letters, not " + std::to_string(k));
    DOCTEST_CHECK(KmerEncoder(12).vocab_size() == 10 + (1 << 24));
}

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
