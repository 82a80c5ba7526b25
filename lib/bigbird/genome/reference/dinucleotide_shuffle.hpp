// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/rng.hpp"

#include <string>
#include <string_view>

namespace bigbird::genome {

/// Normalized sequence in another order, with the same number of each dinucleotide and the same first and
/// last letter (Altschul and Erickson 1985: every such order is equally likely). N stay in place, and what is
/// between them is shuffled on its own.
std::string dinucleotide_shuffle(std::string_view dna, Rng& rng);

}  // namespace bigbird::genome
