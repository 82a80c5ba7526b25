// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/vocabulary_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <fstream>

using namespace bigbird;
using namespace bigbird::tokenizer;
using bigbird::testing::message_of;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;

namespace {

const Json& known_vocabularies() {
    static const Json all = read_json(test_data("tokenizer/vocabularies.json"));
    return all;
}

std::string vocabulary_lines(const Json& tokens) {
    std::string text;
    for (const Json& token : tokens)
        text += token.get<std::string>() + '\n';
    return text;
}

VocabularyTokenizer vocabulary_of(const char* name, const Json& config = {}) {
    return {vocabulary_lines(known_vocabularies().at(name).at("vocabulary")), config, "vocab.txt"};
}

void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

DnaTokenizer open_vocabulary(const TempDir& folder, const char* name) {
    write_text(folder.path() / "vocab.txt", vocabulary_lines(known_vocabularies().at(name).at("vocabulary")));
    return DnaTokenizer::load(folder.path());
}

}  // namespace

DOCTEST_TEST_CASE("vocabulary_file: the ids of transformers, whatever the text") {
    for (const char* name : {"esm", "overlapping"}) {
        const VocabularyTokenizer tokenizer = vocabulary_of(name);
        for (const Json& row : known_vocabularies().at(name).at("texts")) {
            const auto text = row[0].get<std::string>();
            DOCTEST_CAPTURE(text);
            const Encoding found = tokenizer.encode(text, true);
            DOCTEST_CHECK(found.ids == row[1].get<std::vector<std::int32_t>>());
            DOCTEST_CHECK(found.spans.size() == found.ids.size());
        }
    }
}

DOCTEST_TEST_CASE(
    "vocabulary_file: spans are the letters of tokens, or the first one of overlapping k-mers") {
    using Spans = std::vector<TextSpan>;
    DOCTEST_CHECK(vocabulary_of("esm").encode("ACGNRYT", true).spans ==
                  Spans{{0, 3}, {3, 4}, {4, 6}, {6, 7}});
    DOCTEST_CHECK(vocabulary_of("overlapping").encode("ACGTA", true).spans == Spans{{0, 1}, {1, 2}, {2, 3}});
}

DOCTEST_TEST_CASE("vocabulary_file: a sequence ends with <eos> where tokenizer_config.json has one") {
    const std::string text = "<unk>\n<pad>\n<mask>\n<cls>\n<eos>\nA\nC\nG\nT\nN\n";
    DOCTEST_CHECK(VocabularyTokenizer(text, {{"eos_token", nullptr}}, "vocab.txt").special_ids().sep == -1);
    DOCTEST_CHECK(VocabularyTokenizer(text, {{"eos_token", "<eos>"}}, "vocab.txt").special_ids().sep == 4);
    DOCTEST_CHECK(VocabularyTokenizer(text, {}, "vocab.txt").special_ids().sep == 4);
    const Json config = vocabulary_of("esm").config(1000);
    DOCTEST_CHECK(config.at("eos_token").is_null());
    DOCTEST_CHECK(config.at("tokenizer_class") == "EsmTokenizer");
}

DOCTEST_TEST_CASE("vocabulary_file: a tokenizer of a folder, written and opened again") {
    for (const char* name : {"esm", "overlapping"}) {
        const TempDir folder, again;
        const DnaTokenizer tokenizer = open_vocabulary(folder, name);
        DOCTEST_CHECK(tokenizer.frame() == (name == std::string("esm") ? 1 : 2));
        DOCTEST_CHECK_FALSE(tokenizer.has_fixed_lengths());
        tokenizer.require_special_pieces();
        DOCTEST_CHECK(tokenizer.decode(tokenizer.encode("ACGTTGCAGT")) == "ACGTTGCAGT");
        write_tokenizer_files(tokenizer, 32, again.path());
        const DnaTokenizer read = DnaTokenizer::load(again.path());
        DOCTEST_CHECK(read.special_ids() == tokenizer.special_ids());
        DOCTEST_CHECK(read.encode("ACGTNTGCA") == tokenizer.encode("ACGTNTGCA"));
    }
}

DOCTEST_TEST_CASE("vocabulary_file: BPE behind Whitespace, as DNABERT-2's") {
    const TempDir folder;
    const Json& given = known_vocabularies().at("whitespace");
    write_json(folder.path() / "tokenizer.json", given.at("tokenizer"), Overwrite::allow);
    const DnaTokenizer tokenizer = DnaTokenizer::load(folder.path());
    for (const Json& row : given.at("texts")) {
        const auto text = row[0].get<std::string>();
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(tokenizer.encode(text) == row[1].get<std::vector<std::int32_t>>());
    }
}

DOCTEST_TEST_CASE("vocabulary_file: other vocabularies are refused") {
    const auto refusal = [](const std::string& text) {
        return message_of<InputError>([&] { VocabularyTokenizer(text, {}, "vocab.txt"); });
    };
    const std::string kinds =
        "vocab.txt: is no vocabulary of k-mers: neither Nucleotide Transformer's (<unk>, <cls> and k-mers of "
        "A C G T "
        "N) nor DNABERT's ([UNK], [CLS] and k-mers of one length)";
    DOCTEST_CHECK(refusal("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s\n") == kinds);
    DOCTEST_CHECK(refusal("<unk>\n<cls>\nL\nA\n") == kinds);
    DOCTEST_CHECK(refusal("<unk>\n<cls>\nA\nA\n") ==
                  "vocab.txt: line 4 is empty, has a blank or repeats a token");
    DOCTEST_CHECK(refusal("") == kinds);
}
