// SPDX-License-Identifier: Apache-2.0
// Vectorized loops over letters (Highway picks the code for the processor in the first call). The slow twins
// are the rules of core/nucleotide.hpp, letter by letter. base_kernels.cpp has the functions of sequence.hpp,
// too.
#pragma once

#include "bigbird/genome/reference/sequence.hpp"

#include <cstddef>

namespace bigbird::genome::detail {

/// Copies and normalizes `lines` runs of `line_bases` letters to adjacent positions in `out` (see
/// normalised_base()). The runs begin `line_bytes` apart in `text`. `out` equals `text` or does not overlap
/// it. With LetterCase::kept, A C G T keep their case. Returns whether all letters were nucleotide codes
/// (IUPAC, and X), in either case.
bool normalise_lines(const char* text, std::size_t line_bases, std::size_t line_bytes, std::size_t lines,
                     char* out, LetterCase letter_case = LetterCase::upper);

/// normalise_lines() for a single line.
inline bool normalise_letters(const char* text, std::size_t size, char* out,
                              LetterCase letter_case = LetterCase::upper) {
    return normalise_lines(text, size, size, 1, out, letter_case);
}

/// How many of the first `lines` lines of `text` are regular FASTA lines: `line_bases` visible ASCII letters,
/// not beginning with '>', and a line end of line_bytes - line_bases bytes, "\n" or "\r\n".
std::size_t count_regular_lines(const char* text, std::size_t line_bases, std::size_t line_bytes,
                                std::size_t lines);

/// Whether a letter means one nucleotide or several: A C G T U R Y S W K M B D H V N, and X.
bool is_nucleotide_code(char letter);

}  // namespace bigbird::genome::detail
