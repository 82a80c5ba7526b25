// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace bigbird::examples {

/// Calls visit(kmer) for each k-mer without N of a normalized sequence. A k-mer is a number of two bits per
/// letter, the smaller one of both strands. 1 <= k <= 31.
template <typename Visit>
void for_each_kmer(std::string_view dna, int k, const Visit& visit) {
    const std::uint64_t mask = (std::uint64_t{1} << (2 * k)) - 1;
    std::uint64_t forward = 0, reverse = 0;
    int known = 0;  // letters since the last N
    for (const char letter : dna) {
        const std::size_t code = std::string_view("ACGT").find(letter);
        if (code == std::string_view::npos) {
            known = 0;
            continue;
        }
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (std::uint64_t{3} - code) << (2 * (k - 1));
        if (++known >= k) visit(forward < reverse ? forward : reverse);
    }
}

}  // namespace bigbird::examples
