// SPDX-License-Identifier: Apache-2.0
// Sequence letters: upper-case A C G T N; U is T, every other letter is N.
#pragma once

#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird::genome {

/// What becomes of the case of A C G T. Kept, lower case is soft-masking: repeats, in genomes of UCSC and
/// Ensembl.
enum class LetterCase : std::uint8_t { upper, kept };

/// Normalizes `dna` without changing its length.
void normalise(std::string& dna, LetterCase letter_case = LetterCase::upper);

/// The other strand; all but A C G T, whose case is kept, becomes N.
std::string reverse_complement(std::string_view dna);

/// Shuffles normalized sequence; the number of each dinucleotide and the first and last letter stay the same.
/// Every such sequence is equally likely (Altschul and Erickson 1985). N keep their positions; the stretches
/// between them are shuffled separately.
std::string dinucleotide_shuffle(std::string_view dna, Rng& rng);

/// Share of N, 0 for an empty sequence.
double n_fraction(std::string_view dna);

// Letters of one sequence with blanks between them. No reader joins them: overlapping k-mers, as DNABERT's
// tables hold them, would become another sequence.

/// The text without blanks at its ends.
std::string_view without_outer_blanks(std::string_view text);

/// What is wrong with a text that holds blanks between letters, and the remedy.
std::string fault_of_gaps(std::string_view text);

}  // namespace bigbird::genome
