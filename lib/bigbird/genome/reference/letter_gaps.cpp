// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cstddef>

namespace bigbird::genome {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t longest_word = 40;  // that is printed

/// Removes the first word and the blanks about it.
std::string_view take_word(std::string_view& text) {
    text = without_outer_blanks(text);
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

}  // namespace

std::string_view without_outer_blanks(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);  // npos + 1 is 0
}

std::string fault_of_gaps(std::string_view text) {
    const std::string_view first = take_word(text), second = take_word(text);
    const bool overlap = first.size() > 1 && first.size() == second.size() &&
                         first.substr(1) == second.substr(0, second.size() - 1);
    const std::string shown = std::string("('")
                                  .append(first.substr(0, longest_word))
                                  .append(" ")
                                  .append(second.substr(0, longest_word))
                                  .append("'), and letters are not joined over blanks: ");
    return overlap ? "holds overlapping k-mers " + shown +
                         "write the sequence that they spell, as sed -E '/^>/!s/([ACGTNacgtn])[ACGTNacgtn]* "
                         "/\\1/g' FILE does"
                   : "holds blanks between the letters of a sequence " + shown +
                         "delete them or, if these are k-mers that overlap, write the sequence that they "
                         "spell";
}

}  // namespace bigbird::genome
