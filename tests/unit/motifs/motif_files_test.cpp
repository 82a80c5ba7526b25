// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/motif_files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_output.hpp"

using namespace bigbird;
using namespace bigbird::motifs;
using bigbird::testing::read_file;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;

namespace {

MotifSet read_text(const TempDir& folder, const std::string& text) {
    write_file(folder / "motifs", text);
    return read_motifs(folder / "motifs");
}

void check_refused(const std::string& text, const std::string& message) {
    const TempDir folder;
    DOCTEST_CHECK_THROWS_WITH_AS(read_text(folder, text), doctest::Contains(message.c_str()), InputError);
}

const std::string head = "MEME version 4\n\nALPHABET= ACGT\n\n";
const std::string matrix = "letter-probability matrix: alength= 4 w= 2 nsites= 3\n";

}  // namespace

DOCTEST_TEST_CASE("motif files: MEME's parts, in the orders and spellings that are usual") {
    const TempDir folder;
    const MotifSet set = read_text(folder,
                                   "MEME version 5.1\n# a comment\nALPHABET=ACGT\nstrands: + -\n"
                                   "Background letter frequencies (from x):\nA 0.3 C 0.2\nG 0.2 T "
                                   "0.3\nMOTIF one first_factor\nlog-odds matrix: x\n"
                                   "letter-probability matrix: alength=4 w=1 nsites=12 E= 4e-3\n"
                                   "0.1\t0.2  0.3 0.4\nURL http://x\nMOTIF two\n" +
                                       matrix + "1 0 0 0\r\n 0 0 1 0\n");
    DOCTEST_CHECK(set.background[1] == doctest::Approx(0.2));
    DOCTEST_REQUIRE(set.motifs.size() == 2);
    DOCTEST_CHECK(set.motifs[0].id == "one");
    DOCTEST_CHECK(set.motifs[0].name == "first_factor");
    DOCTEST_CHECK(set.motifs[0].sites == 12);
    DOCTEST_CHECK(set.motifs[0].shares.size() == 1);
    DOCTEST_CHECK(set.motifs[0].shares[0][3] == doctest::Approx(0.4));
    DOCTEST_CHECK(set.motifs[1].name.empty());
    DOCTEST_CHECK(set.motifs[1].shares[1][2] == 1);
}

DOCTEST_TEST_CASE("motif files: MEME's matrices without keys, its text output, gzip, rounded columns") {
    const TempDir folder;
    const std::string rows = "0.33 0.33 0.32 0\n0.26 0.26 0.25 0.25\n";
    const std::string rule(80, '*');
    for (const std::string& text :
         {head + "MOTIF a\n\nletter-probability matrix: alength=4\n" + rows + "\nMOTIF b c\n" +
              "letter-probability matrix:\n" + rows + "URL x\n",
          "\xEF\xBB\xBF" + head +
              "MOTIF a\nletter-probability matrix: w=2\n0.33 0.33 0.32 0\n\n0.26 0.26 0.25 " +
              "0.25\nMOTIF b c\nletter-probability matrix: E=1\n" + rows,
          rule + "\nMEME - Motif discovery tool\n" + rule + "\nMEME version 5.5.5\n" + rule +
              "\nMOTIF a\twidth =  2  sites = 9\n" + rule + "\nMultilevel  AC\n--\nlog-odds matrix: w= 1\n" +
              "1 2 3 4\n--\nletter-probability matrix: alength= 4 w= 2\n" + rows + "--\n\tMotif b\n" +
              "MOTIF b c\nletter-probability matrix: w= 2\n" + rows + "Time 1 s\n" + rule +
              "\nSUMMARY OF MOTIFS\n"}) {
        const MotifSet set = read_text(folder, text);
        DOCTEST_REQUIRE(set.motifs.size() == 2);
        DOCTEST_CHECK(set.motifs[0].name.empty());
        for (const Motif& motif : set.motifs) {
            DOCTEST_REQUIRE(motif.shares.size() == 2);
            DOCTEST_CHECK(motif.shares[0][2] == doctest::Approx(0.32 / 0.98));
            DOCTEST_CHECK(motif.shares[1][3] == doctest::Approx(0.25 / 1.02));
        }
    }
    genome::TextOutput packed(folder / "m.meme.gz", Overwrite::refuse);
    packed.write(head + "MOTIF a\n" + matrix + rows);
    packed.commit();
    DOCTEST_CHECK(read_motifs(folder / "m.meme.gz").motifs[0].shares.size() == 2);
}

DOCTEST_TEST_CASE("motif files: JASPAR's counts and shares, with letters and without") {
    const TempDir folder;
    const MotifSet set = read_text(folder,
                                   ">MA1.1\tCTCF\nA  [ 3 0 ]\nC [1  0 ]\nG  [0 4]\nT [ 0 0 ]\n\n"
                                   ">raw\n0.5\n0.5\n0\n0\n");
    DOCTEST_REQUIRE(set.motifs.size() == 2);
    DOCTEST_CHECK(set.motifs[0].id == "MA1.1");
    DOCTEST_CHECK(set.motifs[0].name == "CTCF");
    DOCTEST_CHECK(set.motifs[0].sites == 4);
    DOCTEST_CHECK(set.motifs[0].shares[0][0] == 0.75);
    DOCTEST_CHECK(set.motifs[1].sites == 0);
    DOCTEST_CHECK(set.motifs[1].shares.size() == 1);
}

DOCTEST_TEST_CASE("motif files: what is written reads the same, in either format") {
    const TempDir folder;
    const MotifSet set{{{.id = "a", .name = "b", .sites = 8, .shares = {{0.25, 0.5, 0.25, 0}, {1, 0, 0, 0}}}},
                       {0.3, 0.2, 0.2, 0.3}};
    for (const char* name : {"m.meme", "m.jaspar"}) {
        write_motifs(folder / name, set, Overwrite::refuse);
        const MotifSet read = read_motifs(folder / name);
        DOCTEST_CHECK(read.motifs[0].id == "a");
        DOCTEST_CHECK(read.motifs[0].name == "b");
        DOCTEST_CHECK(read.motifs[0].sites == 8);
        DOCTEST_CHECK(read.motifs[0].shares == set.motifs[0].shares);
    }
    DOCTEST_CHECK(read_file(folder / "m.jaspar").starts_with(">a\tb\nA [ 2 8 ]\n"));
    DOCTEST_CHECK(read_motifs(folder / "m.meme").background[0] == doctest::Approx(0.3));
}

DOCTEST_TEST_CASE("motif files: what is wrong is said with file and line") {
    check_refused("", "holds no motif");
    check_refused(head, "holds no motif");
    check_refused("hello\n", "motifs:1: is no motif file");
    check_refused("MEME version 4\nALPHABET= ACDEFGHIKLMNPQRSTVWY\n", "motifs:2: the alphabet is 'ACDEFG");
    check_refused("MEME version 4\nALPHABET \"Protein\"\n", "motifs:2: motifs of DNA");
    check_refused(head + "MOTIF a\n" + matrix + "1 0 0 0\nx\n", "motifs:8: is no line of four letters'");
    const std::string other_width = "the matrix of the motif 'a' has another number of rows, ";
    check_refused(head + "MOTIF a\n" + matrix + "1 0 0 0\n", other_width + "1, than w= says, 2");
    check_refused(head + "MOTIF a\n" + matrix + "1 0 0 0\n1 0 0 0\n1 0 0 0\n", other_width + "3, than w=");
    check_refused(head + "MOTIF a\nletter-probability matrix:\n1 0 0 0\nx\n", "motifs:8: is no line of four");
    check_refused("********\nMEME\n", "is no motif file");
    check_refused(">ACGT\tx\t6.05\t-9\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n",
                  "motifs:1: is a motif of HOMER");
    check_refused(head + "MOTIF a\n" + matrix + "0 0 0 0\n",
                  "motifs:7: position 1 of the motif has no counts");
    check_refused(head + "MOTIF a\n" + matrix + "1 1 0 0\n", "probabilities sum to 2, not to 1");
    check_refused(head + "MOTIF a\n" + matrix + "-1 1 0 1\n", "'-1' is no count or probability");
    check_refused(head + "MOTIF a\nletter-probability matrix: alength= 4 w= 0\n",
                  "'a' has a matrix without rows");
    check_refused(head + "MOTIF a\nletter-probability matrix: alength= 20 w= 3\n", "has no four letters");
    check_refused(head + "MOTIF a\n", "'a' has no letter-probability matrix");
    check_refused(head + matrix, "a matrix without a MOTIF line");
    check_refused(head + "Background letter frequencies\nA 0.5 C 0.5 G 0.5 T 0.5\n", "sum to 1");
    check_refused(head + "MOTIF a\n" + matrix +
                      "1 0 0 0\n1 0 0 0\n\nBackground letter frequencies\nA 0.4 C 0.1 G 0.1 T 0.4\n",
                  "is another background than that of the motifs before it");
    check_refused(">a\nA [ 1 2 ]\nC [ 1 ]\nG [1 2]\nT [1 2]\n", "motifs:3: the row has 1 columns");
    check_refused(">a\nA [ 1 0 ]\nC [ 1 0 ]\nG [1 0]\nT [1 0]\n",
                  "motifs:5: position 2 of the motif has no counts");
    check_refused(">a\nC [ 1 0 ]\n", "motifs:2: the row of 'A' is expected");
    check_refused(">a\nA [ ]\n", "motifs:2: the motif has no columns");
}
