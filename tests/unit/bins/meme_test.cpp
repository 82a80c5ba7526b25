// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/meme.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::bins;
using bigbird::testing::read_file;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;

namespace {

/// Of shares over a background of `gc` G and C, as find_motifs() makes odds.
Motif motif_of(const std::vector<std::array<double, 4>>& shares, double gc) {
    const std::array<double, 4> background{(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2};
    Motif motif{.label = 1, .sites = 37};
    for (const auto& place : shares)
        for (std::size_t letter = 0; letter < 4; ++letter)
            motif.odds.push_back(static_cast<float>(std::log2(place[letter] / background[letter])));
    return motif;
}

}  // namespace

DOCTEST_TEST_CASE("meme: shares and background come back from odds, to the written digits") {
    const TempDir folder;
    const std::vector<std::array<double, 4>> shares{
        {0.7, 0.1, 0.1, 0.1}, {0.05, 0.85, 0.05, 0.05}, {0.25, 0.25, 0.25, 0.25}};
    const std::vector<Motif> motifs{motif_of(shares, 0.41)};
    const std::vector<std::string> labels{"other", "K562 CTCF"};
    write_meme(folder / "m.meme", motifs, labels);
    const std::string text = read_file(folder / "m.meme");
    DOCTEST_CHECK(
        text.starts_with("MEME version 4\n\nALPHABET= ACGT\n\nstrands: + -\n\nBackground letter "
                         "frequencies\nA 0.2950 C 0.2050 G 0.2050 T 0.2950\n\nMOTIF motif_1 K562_CTCF\n"
                         "letter-probability matrix: alength= 4 w= 3 nsites= 37\n 0.700000 0.100000"));
    const std::vector<MemeMotif> read = read_meme(folder / "m.meme");
    DOCTEST_REQUIRE(read.size() == 1);
    DOCTEST_CHECK(read[0].label == "K562_CTCF");
    DOCTEST_CHECK(read[0].sites == 37);
    DOCTEST_REQUIRE(read[0].shares.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t letter = 0; letter < 4; ++letter)
            DOCTEST_CHECK(read[0].shares[i][letter] == doctest::Approx(shares[i][letter]).epsilon(1e-4));
}

DOCTEST_TEST_CASE("meme: no motifs make a file without any; a damaged file is refused with its line") {
    const TempDir folder;
    write_meme(folder / "none.meme", {}, {});
    DOCTEST_CHECK(read_meme(folder / "none.meme").empty());
    write_file(
        folder / "bad.meme",
        "MEME version 4\nMOTIF a b\nletter-probability matrix: alength= 4 w= 2 nsites= 3\n1 0 0 0\nx\n");
    DOCTEST_CHECK_THROWS_WITH_AS(read_meme(folder / "bad.meme"),
                                 doctest::Contains("bad.meme:5: is no line of four letters' probabilities"),
                                 InputError);
    write_file(folder / "cut.meme",
               "MOTIF a b\nletter-probability matrix: alength= 4 w= 2 nsites= 3\n1 0 0 0\n");
    DOCTEST_CHECK_THROWS_WITH_AS(read_meme(folder / "cut.meme"), doctest::Contains("ends within a motif"),
                                 InputError);
}
