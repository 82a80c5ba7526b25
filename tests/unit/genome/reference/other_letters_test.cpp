// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/other_letters.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::genome;

namespace {

const std::string remedy =
    ", which is no letter of a sequence: see whether the file is whole, and whether a .fai beside it is its "
    "own";

std::string refusal(const std::string& text, bool with_index = false) {
    const testing::TempDir folder;
    testing::write_file(folder / "x.fa", text);
    if (with_index) testing::write_file(folder / "x.fa.fai", "a\t8\t3\t4\t5\n");
    const std::string message = testing::message_of<InputError>([&] {
        const auto genome = open_reference(folder / "x.fa");
        genome->fetch({"a", 0, genome->contigs()[0].length});
    });
    return message.substr(message.find("x.fa") + 4);
}

}  // namespace

DOCTEST_TEST_CASE("other_letters: digits and signs are refused with their place, however lines are cut") {
    DOCTEST_CHECK(refusal(">a\nACGT\nAC5T\n") == ": contig 'a' holds '5' at base 7" + remedy);
    DOCTEST_CHECK(refusal(">a\nACGT\nAC5T\nACGTAAA\nA\n") == ": contig 'a' holds '5' at base 7" + remedy);
    DOCTEST_CHECK(refusal(">a\nACG\nACGT\nA5CGTAC\n") ==
                  ": contig 'a' holds '5' at base 9" + remedy);  // uneven
    DOCTEST_CHECK(refusal(">a\n" + std::string(70, 'A') + "\n" + std::string(33, 'C') + "@" +
                          std::string(36, 'C') + "\n") == ": contig 'a' holds '@' at base 104" + remedy);
}

DOCTEST_TEST_CASE("other_letters: bytes that are no text are refused behind an index, too") {
    DOCTEST_CHECK(refusal(std::string(">a\nACGT\nA\0GT\n", 13), true) ==
                  ": contig 'a' holds a byte of value 0 at base 6" + remedy);
    DOCTEST_CHECK(refusal(std::string(">a\nACGT\nA\0GT\n", 13)) ==
                  ":3: holds a byte that is no text (value 0): a FASTA file is needed");
}

DOCTEST_TEST_CASE(
    "other_letters: letters that stand for no nucleotide are N, said once, gaps and codes are N") {
    const testing::TempDir folder;
    testing::write_file(folder / "x.fa", ">a\nACGTE\nMEFLI\n>b\nRYKMSWBDHVN-*.xU\n");
    const testing::CapturedLog log;
    const auto genome = open_reference(folder / "x.fa");
    DOCTEST_CHECK(genome->fetch({"a", 0, 10}) == "ACGTNNNNNN");
    DOCTEST_CHECK(genome->fetch({"b", 0, 16}) == "NNNNNNNNNNNNNNNT");
    const std::string said = log.text();
    DOCTEST_CHECK(
        said.find(
            "contig 'a' holds 'E' at base 5, which stands for no nucleotide: such letters are read as N") !=
        std::string::npos);
    DOCTEST_CHECK(said.find("holds", said.find("holds") + 1) == std::string::npos);
}
