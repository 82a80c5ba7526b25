// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/checksum.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("checksum: equals the published SHA-256 vectors") {
    DOCTEST_CHECK(sha256_of_text("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    DOCTEST_CHECK(sha256_of_text("abc") ==
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

DOCTEST_TEST_CASE("checksum: a file's sum is its text's sum, across buffer borders") {
    const testing::TempDir folder;
    const std::string text(3'000'001, 'A');
    testing::write_file(folder / "a", text);
    DOCTEST_CHECK(sha256_of_file(folder / "a") == sha256_of_text(text));
    DOCTEST_CHECK_THROWS_AS(sha256_of_file(folder / "none"), InputError);
}
