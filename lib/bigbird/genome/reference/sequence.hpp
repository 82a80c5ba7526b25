// SPDX-License-Identifier: Apache-2.0
// Sequence letters: upper-case A C G T N; U is T, every other letter is N.
#pragma once

#include <string>
#include <string_view>

namespace bigbird::genome {

/// Normalizes `dna` without changing its length.
void normalise(std::string& dna);

/// `dna`: normalized.
std::string reverse_complement(std::string_view dna);

/// Share of N, 0 for an empty sequence.
double n_fraction(std::string_view dna);

}  // namespace bigbird::genome
