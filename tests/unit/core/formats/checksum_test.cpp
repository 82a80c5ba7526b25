// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/checksum.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("checksum: equals the published SHA-256 vectors") {
    DOCTEST_CHECK(sha256_of_text("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    DOCTEST_CHECK(sha256_of_text("abc") ==
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

DOCTEST_TEST_CASE("checksum: a file's sum is its text's sum, at and across buffer borders") {
    const testing::TempDir folder;
    constexpr std::size_t buffer = std::size_t{1} << 20;
    for (const std::size_t size : {std::size_t{0}, buffer - 1, buffer, buffer + 1, std::size_t{3'000'001}}) {
        std::string text(size, 'A');
        for (std::size_t i = 0; i < size; i += 4099)
            text[i] = static_cast<char>('a' + i % 23);
        testing::write_file(folder / "a", text);
        DOCTEST_CHECK(sha256_of_file(folder / "a") == sha256_of_text(text));
    }
}

DOCTEST_TEST_CASE("checksum: bytes that text does not hold count too") {
    const testing::TempDir folder;
    const std::string bytes("\0\xff\r\n\0", 5);
    testing::write_file(folder / "a", bytes);
    DOCTEST_CHECK(sha256_of_file(folder / "a") == sha256_of_text(bytes));
    DOCTEST_CHECK(sha256_of_text(bytes) != sha256_of_text(bytes.substr(0, 4)));
}

DOCTEST_TEST_CASE("checksum: what is called between the parts may end the reading") {
    const testing::TempDir folder;
    testing::write_file(folder / "a", std::string(5 << 20, 'A'));
    int calls = 0;
    const std::string whole = sha256_of_file(folder / "a", [&] { ++calls; });
    DOCTEST_CHECK(calls >= 5);
    DOCTEST_CHECK(whole == sha256_of_file(folder / "a"));
    calls = 0;
    const auto stop_at_second = [&] {
        if (++calls == 2) throw Stopped("enough", ExitCode::stopped_early);
    };
    DOCTEST_CHECK_THROWS_AS(sha256_of_file(folder / "a", stop_at_second), Stopped);
    DOCTEST_CHECK(calls == 2);
}
