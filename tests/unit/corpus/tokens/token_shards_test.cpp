// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_shards.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
namespace fs = std::filesystem;

namespace {

using Sentences = std::vector<std::vector<std::string>>;  // (documents, sentences)

const Sentences small_corpus{{"ACGTACGTTT", "GGGCAAT"}, {"NNN"}, {"TTTTTTTTTTTTTTTTTT", "A"}, {"CCCC"}};

tokenizer::DnaTokenizer small_tokenizer() {
    return tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
}

void write(const fs::path& directory, const Sentences& documents, std::int64_t shard_tokens) {
    const auto tokenizer = small_tokenizer();
    TokenShardWriter writer(directory, tokenizer, Overwrite::allow, shard_tokens);
    for (const auto& document : documents) {
        for (const std::string& sentence : document) {
            writer.add_sentence(tokenizer.encode(sentence), static_cast<std::int64_t>(sentence.size()));
        }
        writer.end_document();
    }
    writer.commit(Json::array(), 2);
}

/// The i-th of the ranges that `ends` divides a corpus into.
IndexRange range_of(std::span<const std::int64_t> ends, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return {at == 0 ? 0 : ends[at - 1], ends[at]};
}

std::string spell(const TokenShards& shards, const IndexRange& tokens) {
    std::vector<std::int32_t> ids;
    shards.append_ids(tokens, ids);
    return shards.tokenizer().decode(ids);
}

std::string read_bytes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

void edit(const fs::path& path, const std::function<void(std::string&)>& change) {
    std::string bytes = read_bytes(path);
    change(bytes);
    write_bytes(path, bytes);
}

std::string refusal(const fs::path& directory) {
    try {
        const TokenShards shards(directory);
        shards.verify(2);
        return "none";
    } catch (const InputError& error) {
        return fs::path(error.what()).lexically_relative(directory).string();
    }
}

}  // namespace

DOCTEST_TEST_CASE("token_shards: what was written, however it was cut into shards") {
    const TempDir temp;
    for (const std::int64_t shard_tokens : {1, 6, 1000}) {
        const fs::path directory = temp.path() / std::to_string(shard_tokens);
        write(directory, small_corpus, shard_tokens);
        const TokenShards shards(directory, small_tokenizer());
        DOCTEST_CHECK(fs::exists(directory / "tokens-00001.bin") == (shard_tokens < 1000));
        DOCTEST_CHECK(shards.counts().documents == 4);
        DOCTEST_CHECK(shards.counts().sentences == 6);
        DOCTEST_CHECK(shards.counts().bases == 10 + 7 + 3 + 18 + 1 + 4);
        Sentences spelt;
        for (std::int64_t d = 0; d < shards.counts().documents; ++d) {
            const IndexRange sentences = range_of(shards.document_ends(), d);
            spelt.emplace_back();
            for (std::int64_t s = sentences.begin; s < sentences.end; ++s) {
                spelt.back().push_back(spell(shards, range_of(shards.sentence_ends(), s)));
            }
        }
        DOCTEST_CHECK(spelt == small_corpus);
        // Across shards.
        DOCTEST_CHECK(spell(shards, {0, shards.counts().tokens}) ==
                      "ACGTACGTTTGGGCAATNNNTTTTTTTTTTTTTTTTTTACCCC");
        shards.verify(2);

        const TokenCorpus corpus = TokenCorpus::from_shards(shards);
        DOCTEST_CHECK(corpus.documents() == 4);
        DOCTEST_CHECK(corpus.bases() == 43);
        std::vector<std::int32_t> mine, theirs;
        corpus.append_ids(1, corpus.tokens() - 1, mine);
        shards.append_ids({1, corpus.tokens() - 1}, theirs);
        DOCTEST_CHECK(mine == theirs);
    }
}

DOCTEST_TEST_CASE("token_shards: the bytes are those of FORMAT.md") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    write(directory, {{"A", "C"}, {"G"}}, 1000);
    const auto tokenizer = small_tokenizer();
    const std::string tokens = read_bytes(directory / "tokens-00000.bin");
    DOCTEST_REQUIRE(tokens.size() == 128 + 3 * 2);
    DOCTEST_CHECK(tokens.substr(0, 8) == "BBDNATOK");
    const auto number = [](const std::string& bytes, std::size_t at, int width) {
        std::uint64_t value = 0;
        for (int i = width - 1; i >= 0; --i) {
            value = value << 8U | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
        }
        return value;
    };
    DOCTEST_CHECK(number(tokens, 8, 4) == 1);   // version
    DOCTEST_CHECK(number(tokens, 12, 4) == 1);  // kind: tokens
    DOCTEST_CHECK(number(tokens, 16, 4) == 2);  // bytes an id
    DOCTEST_CHECK(number(tokens, 32, 8) == 3);  // ids
    DOCTEST_CHECK(number(tokens, 128, 2) == static_cast<std::uint64_t>(tokenizer.encode("A")[0]));
    const std::string sentences = read_bytes(directory / "sentences.bin");
    DOCTEST_REQUIRE(sentences.size() == 128 + 3 * 8);
    DOCTEST_CHECK(number(sentences, 12, 4) == 2);
    DOCTEST_CHECK(number(sentences, 128 + 8, 8) == 2);
    const std::string documents = read_bytes(directory / "documents.bin");
    DOCTEST_REQUIRE(documents.size() == 128 + 2 * 8);
    DOCTEST_CHECK(number(documents, 128, 8) == 2);
    DOCTEST_CHECK(number(documents, 128 + 8, 8) == 3);
}

DOCTEST_TEST_CASE("token_shards: what is not whole is refused, and it is said why") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    const auto after = [&](const char* file, const std::function<void(std::string&)>& change) {
        write(directory, small_corpus, 6);
        edit(directory / file, change);
        return refusal(directory);
    };
    DOCTEST_CHECK(after("tokens-00000.bin", [](std::string& bytes) {
                      bytes.pop_back();
                  }).starts_with("tokens-00000.bin: is truncated"));
    DOCTEST_CHECK(after("tokens-00001.bin", [](std::string& bytes) {
                      bytes.resize(40);
                  }).starts_with("tokens-00001.bin: is truncated: it ends within its header"));
    DOCTEST_CHECK(after("sentences.bin", [](std::string& bytes) {
                      bytes += "more";
                  }).starts_with("sentences.bin: is longer than its header says"));
    DOCTEST_CHECK(after("documents.bin", [](std::string& bytes) {
                      bytes[8] = 7;
                  }).starts_with("documents.bin: is of version 7, this program reads 1"));
    DOCTEST_CHECK(after("tokens-00000.bin", [](std::string& bytes) {
                      bytes[45] ^= 1;
                  }).starts_with("tokens-00000.bin: was made with another tokenizer"));
    DOCTEST_CHECK(after("tokens-00000.bin", [](std::string& bytes) {
                      bytes[0] = 0;
                  }).starts_with("tokens-00000.bin: is no file of token shards"));
    DOCTEST_CHECK(after("tokens-00000.bin", [](std::string& bytes) {
                      bytes[16] = 8;
                  }).starts_with("tokens-00000.bin: has a damaged header"));
    DOCTEST_CHECK(after("tokens-00000.bin", [](std::string& bytes) {
                      bytes.back() ^= 1;
                  }).starts_with("tokens-00000.bin: is damaged: its checksum"));
    DOCTEST_CHECK(after("manifest.json", [](std::string& bytes) {
                      bytes.replace(bytes.find("\"format_version\": 1"), 19, "\"format_version\": 2");
                  }).starts_with("manifest.json: is of version 2"));
    DOCTEST_CHECK(after("manifest.json", [](std::string& bytes) {
                      bytes = "{}";
                  }).starts_with("manifest.json: describes no token shards"));
    fs::remove_all(directory);  // one without a manifest is nobody's, and not replaced

    write(directory, small_corpus, 6);
    fs::remove(directory / "tokens-00001.bin");
    DOCTEST_CHECK(refusal(directory).starts_with("tokens-00001.bin: no such file"));
    write(directory, small_corpus, 6);
    fs::rename(directory / "tokens-00001.bin", directory / "tokens-00000.bin");
    DOCTEST_CHECK(refusal(directory).starts_with("tokens-00000.bin: does not belong in this place"));
    write(directory, small_corpus, 1000);
    const std::string other_ends = read_bytes(directory / "sentences.bin");
    write(directory, {{"ACG"}}, 1000);
    write_bytes(directory / "sentences.bin", other_ends);
    DOCTEST_CHECK(refusal(directory).starts_with("sentences.bin: does not fit the other files"));
    DOCTEST_CHECK_THROWS_AS(TokenShards(temp.path() / "none"), InputError);
    DOCTEST_CHECK_THROWS_AS(TokenShards(temp.path()), InputError);
}

DOCTEST_TEST_CASE("token_shards: an id outside the vocabulary never leaves the reader") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    write(directory, small_corpus, 1000);
    edit(directory / "tokens-00000.bin", [](std::string& bytes) { bytes[129] = '\xFF'; });
    const TokenShards shards(directory);
    std::vector<std::int32_t> ids;
    DOCTEST_CHECK_THROWS_AS(shards.append_ids({0, 2}, ids), InputError);
}

DOCTEST_TEST_CASE("token_shards: a folder tells whether it is a corpus of tokens") {
    const TempDir temp;
    write(temp.path() / "corpus", small_corpus, 1000);
    DOCTEST_CHECK(is_token_corpus(temp.path() / "corpus"));
    DOCTEST_CHECK_FALSE(is_token_corpus(temp.path()));
    DOCTEST_CHECK_FALSE(is_token_corpus(temp.path() / "none"));
}

DOCTEST_TEST_CASE("token_shards: a manifest cannot name files elsewhere, and must name files") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    const auto with = [&](const Json& files) {
        write(directory, small_corpus, 1000);
        Json manifest = read_json(directory / "manifest.json");
        manifest["files"] = files;
        write_json(directory / "manifest.json", manifest, Overwrite::allow);
        return refusal(directory);
    };
    for (const char* name : {"../x", "/etc/passwd", "..", ""}) {
        DOCTEST_CHECK(with(Json::array({{{"file", name}, {"sha256", ""}}})) ==
                      "manifest.json: names a file outside its folder");
    }
    const std::string damaged = "manifest.json: has a damaged list of files; run tokenize again";
    DOCTEST_CHECK(with(Json()) == damaged);
    DOCTEST_CHECK(with(7) == damaged);
    DOCTEST_CHECK(with(Json::array({{{"file", 7}}})) == damaged);
    DOCTEST_CHECK(with(Json::array({{{"file", "documents.bin"}, {"sha256", "0"}, {"bytes", "many"}}})) ==
                  damaged);
}

DOCTEST_TEST_CASE("token_shards: ends that do not rise are damage") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    write(directory, small_corpus, 1000);
    const TokenShards shards(directory);
    std::vector<std::int32_t> ids;
    for (const IndexRange& tokens : {IndexRange{-1, 2}, IndexRange{3, 2}, IndexRange{0, INT64_MAX}}) {
        DOCTEST_CHECK(testing::message_of<InputError>([&] {
                          shards.append_ids(tokens, ids);
                      }).find("is damaged: a sentence's end does not lie between its neighbours'") !=
                      std::string::npos);
    }
}

DOCTEST_TEST_CASE("token_shards: a corpus whose ends do not rise is not used") {
    const TempDir temp;
    const fs::path directory = temp.path() / "corpus";
    for (const char* file : {"sentences.bin", "documents.bin"}) {
        for (const char first : {'\x7F', '\x00', '\x80'}) {
            write(directory, small_corpus, 1000);
            edit(directory / file, [&](std::string& bytes) { bytes[128] = first, bytes[135] = first; });
            const TokenShards shards(directory);
            DOCTEST_CHECK(testing::message_of<InputError>([&] { TokenCorpus::from_shards(shards); }) ==
                          (directory / file).string() +
                              ": is damaged: its ends do not rise; copy it again or run tokenize again");
        }
    }
}
