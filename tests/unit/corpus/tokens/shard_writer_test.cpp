// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/shard_writer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
namespace fs = std::filesystem;

namespace {

const std::vector<std::int32_t> three{5, 6, 7};

}  // namespace

DOCTEST_TEST_CASE("shard_writer: nothing lies there before commit, and nothing is left without it") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    {
        TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
        writer.add_sentence(three, 9);
        writer.end_document();
        DOCTEST_CHECK_FALSE(fs::exists(temp.path() / "corpus"));
    }
    DOCTEST_CHECK(fs::is_empty(temp.path()));
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    writer.add_sentence(three, 9);
    writer.end_document();
    writer.commit(Json::array(), 1);
    DOCTEST_CHECK(fs::is_directory(temp.path() / "corpus"));
    DOCTEST_CHECK_THROWS_AS(TokenShardWriter(temp.path() / "corpus", tokenizer, Overwrite::refuse),
                            ConfigError);
}

DOCTEST_TEST_CASE("shard_writer: sentences and documents without tokens are left out") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    DOCTEST_CHECK_THROWS_AS(writer.commit(Json::array(), 1), InputError);
    writer.end_document();
    writer.add_sentence({}, 0);
    writer.end_document();
    writer.add_sentence(three, 9);
    writer.add_sentence({}, 0);
    writer.end_document();
    writer.end_document();
    DOCTEST_CHECK(writer.counts() == TokenCounts{1, 1, 3, 9});
}

DOCTEST_TEST_CASE("shard_writer: a full disk is told, and nothing is left") {
    if (!fs::exists("/dev/full")) {
        return;
    }
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    {
        TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
        for (const auto& folder : fs::directory_iterator(temp.path())) {
            fs::create_symlink("/dev/full", folder.path() / "tokens-00000.bin");
        }
        const std::vector<std::int32_t> many(2'000'000, 5);
        DOCTEST_CHECK_THROWS_AS(writer.add_sentence(many, 9), WriteError);
    }
    DOCTEST_CHECK(fs::is_empty(temp.path()));
}

DOCTEST_TEST_CASE("shard_writer: a tokenizer of Hugging Face's goes along as it is") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/hf/gena_like.json"));
    const std::vector<std::int32_t> ids = tokenizer.encode("ACGTACGTTTGGGCAAT");
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    writer.add_sentence(ids, 17);
    writer.end_document();
    writer.commit(Json::array(), 1);
    DOCTEST_CHECK(fs::exists(temp.path() / "corpus" / "tokenizer.json"));
    const TokenShards shards(temp.path() / "corpus", tokenizer);
    std::vector<std::int32_t> read;
    shards.append_ids({0, shards.counts().tokens}, read);
    DOCTEST_CHECK(read == ids);
    const auto other = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    DOCTEST_CHECK_THROWS_AS(TokenShards(temp.path() / "corpus", other), InputError);
}
