// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/sequence.hpp"

#include "bigbird/core/base.hpp"

#include <algorithm>

namespace bigbird::genome {

namespace {

constexpr char complement(char letter) {
    using Byte = unsigned char;
    const Byte base = static_cast<Byte>(letter);
    const Byte weak = mask_if(base == 'A') | mask_if(base == 'T'),
               strong = mask_if(base == 'C') | mask_if(base == 'G');
    const Byte known = weak | strong;
    const Byte other = static_cast<Byte>(base ^ (weak & ('A' ^ 'T')) ^ (strong & ('C' ^ 'G')));
    return static_cast<char>((other & known) | ('N' & ~known));
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
