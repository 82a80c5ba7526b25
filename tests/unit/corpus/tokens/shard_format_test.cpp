// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/shard_format.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <cstring>
#include <vector>

using namespace bigbird;
using namespace bigbird::corpus::shard_format;
using bigbird::testing::test_data;

DOCTEST_TEST_CASE("shard_format: shards sort by name") {
    DOCTEST_CHECK(shard_file(0) == "tokens-00000.bin");
    DOCTEST_CHECK(shard_file(12345) == "tokens-12345.bin");
    DOCTEST_CHECK(shard_file(123456) == "tokens-123456.bin");
}

DOCTEST_TEST_CASE("shard_format: a tokenizer is told by its vocabulary") {
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    DOCTEST_CHECK(hex(fingerprint(tokenizer)) == sha256_of_text(tokenizer.vocabulary_text()));
}

DOCTEST_TEST_CASE("shard_format: a header that lies about the size is refused") {
    Header header;
    header.element_bytes = 2;
    header.count = 3;
    const auto with_elements = [&](std::size_t bytes) {
        std::vector<std::byte> file(sizeof header + bytes);
        std::memcpy(file.data(), &header, sizeof header);
        return file;
    };
    DOCTEST_CHECK(parse_header(with_elements(6), "file").count == 3);
    DOCTEST_CHECK_THROWS_AS(parse_header(with_elements(5), "file"), InputError);
    DOCTEST_CHECK_THROWS_AS(parse_header(with_elements(7), "file"), InputError);
    for (const std::int64_t count : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        header.count = count;
        DOCTEST_CHECK_THROWS_AS(parse_header(with_elements(6), "file"), InputError);
    }
}
