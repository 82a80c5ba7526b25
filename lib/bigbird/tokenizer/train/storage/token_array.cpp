// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <string>
#include <string_view>

namespace bigbird::tokenizer {

static constexpr std::string_view alphabet = "ACGTN";

Symbol symbol_of_letter(char letter) {
    const std::size_t symbol = alphabet.find(letter);
    BIGBIRD_EXPECTS(symbol != std::string_view::npos, "not one of A C G T N: " + std::string(1, letter));
    return static_cast<Symbol>(symbol);
}

char letter_of_symbol(Symbol symbol) {
    return alphabet.at(symbol);
}

}  // namespace bigbird::tokenizer
