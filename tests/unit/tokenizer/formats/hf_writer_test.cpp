// SPDX-License-Identifier: Apache-2.0
// encodings.tsv holds what transformers' AutoTokenizer makes of the files that are written here:
// scripts/checks/make_hf_fixtures.py.
#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

void write_files(const std::filesystem::path& folder) {
    write_json(folder / "tokenizer.json", tokenizer_json(small_model()), Overwrite::allow);
    write_json(folder / "tokenizer_config.json", tokenizer_config_json({}, 4096), Overwrite::allow);
}

}  // namespace

DOCTEST_TEST_CASE("hf_writer: AutoTokenizer gives our ids between [CLS] and [SEP]") {
    const auto tokenizer = small_tokenizer();
    std::istringstream lines(read_file(test_data("tokenizer/hf/encodings.tsv")));
    int count = 0;
    for (std::string text, ids, line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        std::getline(fields, ids, '\t');
        std::string ours = "2";
        for (const std::int32_t id : tokenizer.encode(text))
            ours += " " + std::to_string(id);
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(ours + " 3" == ids);
    }
    DOCTEST_CHECK(count > 60);
}

DOCTEST_TEST_CASE("hf_writer: the files, read back, encode as the model does") {
    const TempDir folder;
    write_files(folder.path());
    if (const char* keep = std::getenv("BIGBIRD_WRITE_HF")) write_files(keep);  // for make_hf_fixtures.py
    const auto ours = small_tokenizer();
    const auto theirs = DnaTokenizer::load(folder / "tokenizer.json");
    Rng rng(12);
    int wrong = 0;
    for (int round = 0; round < 2000; ++round) {
        const double repeat = rng.uniform();
        const std::string text =
            random_text(rng, static_cast<std::size_t>(round % 300 + 1), "ACGTNacgu", repeat);
        wrong += ours.encode(text) != theirs.encode(text);
    }
    DOCTEST_CHECK(wrong == 0);
    const Json config = read_json(folder / "tokenizer_config.json");
    DOCTEST_CHECK(config["model_max_length"] == 4096);
    DOCTEST_CHECK(config["added_tokens_decoder"]["4"]["content"] == "[MASK]");
}

namespace {

using Tokens = std::vector<std::string>;

/// tokenizer.json's model by its definition: of the merges in the list, the first that any two neighbours are
/// takes place first, the leftmost of several.
Tokens encode_by_merge_list(const Json& json, const std::string& text) {
    std::map<std::pair<std::string, std::string>, std::size_t> ranks;
    for (const Json& merge : json["model"]["merges"]) {
        const auto line = merge.get<std::string>();
        const std::size_t blank = line.find(' ');
        ranks.emplace(std::pair(line.substr(0, blank), line.substr(blank + 1)), ranks.size());
    }
    Tokens tokens;
    for (const char letter : text)
        tokens.emplace_back(1, letter);
    while (true) {
        std::size_t best = ranks.size(), at = 0;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const auto found = ranks.find({tokens[i], tokens[i + 1]});
            if (found != ranks.end() && found->second < best) {
                best = found->second;
                at = i;
            }
        }
        if (best == ranks.size()) return tokens;
        tokens[at] += tokens[at + 1];
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

Tokens pieces_of(const DnaTokenizer& tokenizer, const std::string& text) {
    Tokens pieces;
    for (const std::int32_t id : tokenizer.encode(text))
        pieces.push_back(tokenizer.piece(id));
    return pieces;
}

SentencePieceModel model_of(const std::vector<std::string>& learnt) {
    SentencePieceModel model = small_model();
    model.pieces.resize(5);
    for (const std::string& text : learnt)
        model.pieces.push_back({text, 5 - static_cast<float>(model.pieces.size()), PieceKind::normal});
    for (const char* letter : {"A", "C", "G", "T", "N"})
        model.pieces.push_back({letter, 5 - static_cast<float>(model.pieces.size()), PieceKind::normal});
    return model;
}

}  // namespace

DOCTEST_TEST_CASE("hf_writer: the list of merges makes our pieces on real sequence, by its definition") {
    const Json json = tokenizer_json(small_model());
    const auto ours = small_tokenizer();
    for (const std::string& sentence : real_sentences()) {
        const std::string text = sentence.substr(0, 300);
        DOCTEST_CHECK(encode_by_merge_list(json, text) == pieces_of(ours, text));
    }
}

DOCTEST_TEST_CASE("hf_writer: pieces that are made in several ways, where they overlap themselves") {
    Rng rng(13);
    for (const std::vector<std::string>& learnt :
         std::vector<std::vector<std::string>>{{"AA", "AAA", "AAAA"},
                                               {"AA", "AAAA", "AAA", "AAAAAA"},
                                               {"AT", "TA", "ATA", "ATATA"},
                                               {"AC", "ACAC", "CA", "ACACAC"},
                                               {"CG", "GC", "CGC", "GCG", "CGCG"}}) {
        const SentencePieceModel model = model_of(learnt);
        const Json json = tokenizer_json(model);
        const auto ours = DnaTokenizer::from_serialized(serialize(model), "m");
        for (const std::string letters : {"A", "AT", "AC", "CG", "ACGT"}) {
            for (const std::string& text : random_texts(rng, letters, 40, 1)) {
                DOCTEST_CAPTURE(text);
                DOCTEST_CHECK(encode_by_merge_list(json, text) == pieces_of(ours, text));
            }
        }
    }
}

DOCTEST_TEST_CASE("hf_writer: its normaliser does with each ASCII letter what ours does") {
    const auto theirs = DnaTokenizer::from_serialized(tokenizer_json(small_model()).dump(), "tokenizer.json");
    const auto ours = small_tokenizer();
    for (char letter = 1; letter < 127; ++letter) {
        const std::string text{letter};
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(theirs.encode(text) == ours.encode(text));
    }
}

DOCTEST_TEST_CASE("hf_writer: the settings name the special pieces that there are") {
    const Json config = tokenizer_config_json({.pad = 3, .unk = 0, .cls = 1, .sep = 2, .mask = -1}, 512);
    DOCTEST_CHECK(config["added_tokens_decoder"].size() == 4);
    DOCTEST_CHECK(config["added_tokens_decoder"]["3"]["content"] == "[PAD]");
    DOCTEST_CHECK(!config["added_tokens_decoder"]["3"].contains("id"));
    DOCTEST_CHECK(config["pad_token"] == "[PAD]");
    DOCTEST_CHECK(!config.contains("mask_token"));
    DOCTEST_CHECK(config["model_max_length"] == 512);
    DOCTEST_CHECK(config["tokenizer_class"] == "PreTrainedTokenizerFast");
}
