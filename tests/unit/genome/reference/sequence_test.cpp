// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/sequence.hpp"

#include "support/testing.hpp"

#include <string>

using namespace bigbird::genome;

DOCTEST_TEST_CASE("sequence: every byte becomes A, C, G, T or N") {
    for (int byte = 0; byte < 256; ++byte) {
        std::string dna(33, static_cast<char>(byte));  // long enough for vector code and its remainder
        normalise(dna);
        char expected = 'N';
        switch (byte) {
            case 'A':
            case 'a':
                expected = 'A';
                break;
            case 'C':
            case 'c':
                expected = 'C';
                break;
            case 'G':
            case 'g':
                expected = 'G';
                break;
            case 'T':
            case 't':
            case 'U':
            case 'u':
                expected = 'T';
                break;
            default:
                break;
        }
        DOCTEST_CAPTURE(byte);
        DOCTEST_CHECK(dna == std::string(33, expected));
    }
}

DOCTEST_TEST_CASE(
    "sequence: the reverse complement reads the other strand, and twice it is the strand itself") {
    DOCTEST_CHECK(reverse_complement("AACGTNG") == "CNACGTT");
    DOCTEST_CHECK(reverse_complement("").empty());
    const std::string dna = "ACGTNNGATTACAACGTNNGATTACAACGTNNGATTACAACGTNNGATTACA";
    DOCTEST_CHECK(reverse_complement(reverse_complement(dna)) == dna);
}

DOCTEST_TEST_CASE("sequence: the share of N") {
    DOCTEST_CHECK(n_fraction("") == 0.0);
    DOCTEST_CHECK(n_fraction("ACGT") == 0.0);
    DOCTEST_CHECK(n_fraction("NNAC") == 0.5);
    DOCTEST_CHECK(n_fraction("NNN") == 1.0);
}
