// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/rng.hpp"

#include <string>
#include <string_view>

namespace bigbird::genome {

/// Shuffles normalized sequence; the number of each dinucleotide and the first and last letter stay the same.
/// Every such sequence is equally likely (Altschul and Erickson 1985). N keep their positions; the stretches
/// between them are shuffled separately.
std::string dinucleotide_shuffle(std::string_view dna, Rng& rng);

}  // namespace bigbird::genome
