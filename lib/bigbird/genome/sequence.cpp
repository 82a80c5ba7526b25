// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/sequence.hpp"

#include "bigbird/core/base.hpp"

#include <algorithm>

namespace bigbird::genome {

namespace {

constexpr char complement(char letter) {
    char result = 'N';
    result = letter == 'A' ? 'T' : result;
    result = letter == 'C' ? 'G' : result;
    result = letter == 'G' ? 'C' : result;
    result = letter == 'T' ? 'A' : result;
    return result;
}

}  // namespace

void normalise(std::string& dna) {
    char* const letters = dna.data();
    const std::size_t size = dna.size();
    for (std::size_t i = 0; i < size; ++i) {
        letters[i] = normalised_base(letters[i]);
    }
}

std::string reverse_complement(std::string_view dna) {
    std::string result(dna);
    std::reverse(result.begin(), result.end());
    char* const letters = result.data();
    const std::size_t size = result.size();
    for (std::size_t i = 0; i < size; ++i) {
        letters[i] = complement(letters[i]);
    }
    return result;
}

double n_fraction(std::string_view dna) {
    if (dna.empty()) {
        return 0;
    }
    return static_cast<double>(std::count(dna.begin(), dna.end(), 'N')) / static_cast<double>(dna.size());
}

}  // namespace bigbird::genome
