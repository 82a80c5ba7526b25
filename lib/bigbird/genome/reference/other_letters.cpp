// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/other_letters.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/base_kernels.hpp"

namespace bigbird::genome::detail {

namespace {

bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_gap(char c) {
    return c == '-' || c == '.' || c == '*';
}

std::string show(char c) {
    const auto value = static_cast<unsigned char>(c);
    return value > ' ' && value <= '~' ? std::string("'") + c + "'"
                                       : "a byte of value " + std::to_string(value);
}

}  // namespace

void OtherLetters::look(std::string_view contig, std::int64_t begin, std::string_view text) {
    std::int64_t base = begin;
    for (const char c : text) {
        if (c == '\n' || c == '\r') continue;
        ++base;  // from 1
        if (is_nucleotide_code(c) || is_gap(c)) continue;
        const std::string where =
            "contig '" + std::string(contig) + "' holds " + show(c) + " at base " + std::to_string(base);
        if (!is_letter(c)) {
            throw InputError(where +
                                 ", which is no letter of a sequence: see whether the file is whole, and "
                                 "whether a .fai beside it is its own",
                             path_);
        }
        if (!said_.exchange(true)) {
            log_warning("{}: {}, which stands for no nucleotide: such letters are read as N", path_.string(),
                        where);
        }
    }
}

void OtherLetters::check_and_normalise(std::string_view contig, std::string& bases) {
    const std::string& before = bases;
    std::string normalised(before.size(), 'N');
    if (!normalise_letters(before.data(), before.size(), normalised.data(), letter_case_))
        look(contig, 0, before);
    bases = std::move(normalised);
}

}  // namespace bigbird::genome::detail
