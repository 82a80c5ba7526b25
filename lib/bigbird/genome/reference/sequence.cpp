// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/sequence.hpp"

#include "bigbird/genome/reference/base_kernels.hpp"

#include <algorithm>

namespace bigbird::genome {

void normalise(std::string& dna, LetterCase letter_case) {
    detail::normalise_letters(dna.data(), dna.size(), dna.data(), letter_case);
}

std::string reverse_complement(std::string_view dna) {
    std::string result(dna.size(), 'N');
    detail::complement_backwards(dna.data(), dna.size(), result.data());
    return result;
}

double n_fraction(std::string_view dna) {
    if (dna.empty()) return 0;
    return static_cast<double>(std::count(dna.begin(), dna.end(), 'N')) / static_cast<double>(dna.size());
}

}  // namespace bigbird::genome
