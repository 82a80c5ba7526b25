// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include "support/testing.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

std::string spell(const TokenArray& array) {
    std::string text;
    for (std::size_t i = 0; i < array.size(); ++i) {
        text += array.data()[i] == TokenArray::separator ? '|' : letter_of_symbol(array.data()[i]);
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/token_array: stretches lie between separators") {
    TokenArray array;
    array.append("ACGTN");
    array.append("");
    array.append("TT");
    DOCTEST_CHECK(spell(array) == "|ACGTN||TT|");
    array.truncate(7);
    array.append("G");
    DOCTEST_CHECK(spell(array) == "|ACGTN|G|");
}

DOCTEST_TEST_CASE("tokenizer/token_array: growth and moves keep the sequence") {
    TokenArray array;
    const std::string block = "ACGTTGCAN";
    for (int i = 0; i < 300'000; ++i) {
        array.append(block);
    }
    DOCTEST_CHECK(array.size() == 1 + 300'000 * (block.size() + 1));
    TokenArray moved = std::move(array);
    DOCTEST_CHECK(letter_of_symbol(moved.data()[moved.size() - 2]) == 'N');
    moved.move_down(moved.size() - 10, moved.size(), 1);
    moved.truncate(11);
    DOCTEST_CHECK(spell(moved) == "|ACGTTGCAN|");
}

DOCTEST_TEST_CASE("tokenizer/token_array: letters and numbers") {
    DOCTEST_CHECK(symbol_of_letter('A') == 0);
    DOCTEST_CHECK(symbol_of_letter('N') == 4);
    DOCTEST_CHECK(letter_of_symbol(3) == 'T');
    DOCTEST_CHECK_THROWS_AS(symbol_of_letter('a'), std::logic_error);
}

DOCTEST_TEST_CASE("tokenizer/token_array: an array of so many positions begins and ends with separators") {
    for (const std::size_t size : {1U, 2U, 5U}) {
        LetterArray array(size);
        DOCTEST_CHECK(array.size() == size);
        DOCTEST_CHECK(array.data()[0] == LetterArray::separator);
        DOCTEST_CHECK(array.data()[size - 1] == LetterArray::separator);
    }
    const TokenArray empty;
    DOCTEST_CHECK(spell(empty) == "|");
}

DOCTEST_TEST_CASE("tokenizer/token_array: letters by their numbers") {
    LetterArray array;
    const std::vector<std::uint8_t> letters{0, 1, 2, 3, 4};
    array.append(letters.data(), letters.size());
    array.append(letters.data(), 0);
    array.append("TT");
    const std::vector<std::uint8_t> found(array.data(), array.data() + array.size());
    DOCTEST_CHECK(found == std::vector<std::uint8_t>{255, 0, 1, 2, 3, 4, 255, 255, 3, 3, 255});
}

DOCTEST_TEST_CASE("tokenizer/token_array: growth over many huge pages keeps every stretch") {
    LetterArray array;
    std::vector<std::uint8_t> stretch(99'999);
    for (std::size_t round = 0; round < 60; ++round) {  // six million positions, three pages
        for (std::size_t i = 0; i < stretch.size(); ++i) {
            stretch[i] = static_cast<std::uint8_t>((i * 7 + round) % 4);
        }
        array.append(stretch.data(), stretch.size());
    }
    DOCTEST_REQUIRE(array.size() == 6'000'001);
    std::size_t wrong = 0;
    for (std::size_t round = 0; round < 60; ++round) {
        for (std::size_t i = 0; i < stretch.size(); ++i) {
            wrong += array.data()[1 + round * 100'000 + i] != (i * 7 + round) % 4;
        }
        wrong += array.data()[(round + 1) * 100'000] != LetterArray::separator;
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/token_array: overlapping positions move down, and moves leave nothing behind") {
    TokenArray array;
    array.append("AAACGTACGTN");
    array.move_down(3, 12, 1);
    array.truncate(10);
    DOCTEST_CHECK(spell(array) == "|ACGTACGTN");
    TokenArray moved;
    moved = std::move(array);
    DOCTEST_CHECK(spell(moved) == "|ACGTACGTN");
    const TokenArray again(std::move(moved));
    DOCTEST_CHECK(moved.size() == 0);  // NOLINT(bugprone-use-after-move)
    DOCTEST_CHECK(again.size() == 10);
}

DOCTEST_TEST_CASE("tokenizer/token_array: memory goes to an array of another kind where it suffices") {
    LetterArray letters(std::size_t{3} << 20);
    const void* const memory = letters.data();
    letters.data()[2] = 0x34;
    letters.data()[3] = 0x12;
    TokenArray tokens = std::move(letters).turn_into<Symbol>(100);
    DOCTEST_CHECK(tokens.data() == memory);
    DOCTEST_CHECK(tokens.size() == 100);
    DOCTEST_CHECK(tokens.data()[1] == 0x1234);
    LetterArray small(10);  // a page of two million bytes
    DOCTEST_CHECK_THROWS_AS(std::move(small).turn_into<Symbol>((std::size_t{1} << 20) + 1), std::logic_error);
}
