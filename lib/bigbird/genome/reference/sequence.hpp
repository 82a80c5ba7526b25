// SPDX-License-Identifier: Apache-2.0
// Sequence letters: upper-case A C G T N; U is T, every other letter is N.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird::genome {

/// What becomes of the case of A C G T. Kept, lower case is soft-masking: repeats, in genomes of UCSC and
/// Ensembl.
enum class LetterCase : std::uint8_t { upper, kept };

/// Normalizes `dna` without changing its length.
void normalise(std::string& dna, LetterCase letter_case = LetterCase::upper);

/// `dna`: normalized; case is kept.
std::string reverse_complement(std::string_view dna);

/// Share of N, 0 for an empty sequence.
double n_fraction(std::string_view dna);

}  // namespace bigbird::genome
