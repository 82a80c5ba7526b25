// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/describe_shards.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/corpus/tokens/shard_writer.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;

DOCTEST_TEST_CASE("describe_shards: counts, sizes and whether the checksums were compared") {
    const TempDir temp;
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    TokenShardWriter writer(temp.path() / "corpus", tokenizer, Overwrite::refuse);
    writer.add_sentence(std::vector<std::int32_t>{5, 6, 7}, 10);
    writer.add_sentence(std::vector<std::int32_t>{5}, 2);
    writer.end_document();
    writer.commit(Json::array(), 1);
    const TokenShards shards(temp.path() / "corpus");
    const Json json = describe(shards, false);
    DOCTEST_CHECK(json.at("kind") == "token shards");
    DOCTEST_CHECK(json.at("tokens") == 4);
    DOCTEST_CHECK(json.at("bases_per_token") == 3.0);
    DOCTEST_CHECK(json.at("files").at("tokens-00000.bin") == "136 bytes");
    DOCTEST_CHECK(json.at("checksums") == "not compared; --verify does");
    DOCTEST_CHECK(describe(shards, true).at("checksums") == "verified");
}
