// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include "support/testing.hpp"

#include <string>
#include <utility>

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
