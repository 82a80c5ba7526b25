// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/fasta_index.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/fasta_file.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::genome::detail;
using namespace bigbird::genome;

namespace {

std::vector<FastaEntry> scan(const std::string& text, std::size_t piece) {
    FastaScanner scanner("x.fa");
    for (std::size_t i = 0; i < text.size(); i += piece)
        scanner.feed(std::string_view(text).substr(i, piece));
    return scanner.finish();
}

std::string message(const std::string& text) {
    return testing::message_of<InputError>([&] { scan(text, text.size()); });
}

}  // namespace

DOCTEST_TEST_CASE("fasta_index: the scan gives what samtools faidx writes, whatever the pieces") {
    const std::string text = "\n>a first\nACGT\nACGT\nAC\n>b\tx\r\nAAA\r\nCC\r\n\r\n>none\n>c\nGGGGG";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        const auto entries = scan(text, piece);
        DOCTEST_CAPTURE(piece);
        std::string found;
        for (const FastaEntry& entry : entries) {
            found += entry.name;
            for (const std::int64_t number :
                 {entry.length, entry.offset, entry.line_bases, entry.line_bytes, entry.line, entry.end})
                found += " " + std::to_string(number);
            found += entry.even ? "\n" : " uneven\n";
        }
        DOCTEST_CHECK(found == "a 10 10 4 5 2 23\nb 5 29 3 5 6 40\nnone 0 46 0 0 10 46\nc 5 49 5 5 11 54\n");
    }
}

DOCTEST_TEST_CASE(
    "fasta_index: lines that positions cannot be computed from are found, in pieces of any size") {
    for (const std::string text : {">a\nACGT\nAC\nACGT\n", ">a\nAC\nACGT\n", ">a\nACGT\n\nACGT\n",
                                   ">a\n ACGT\nACGT\n", ">a\nACGT \nACGT\n", ">a\nACGT\r\nACGT\nACGT\n"}) {
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            DOCTEST_CAPTURE(text);
            DOCTEST_CAPTURE(piece);
            DOCTEST_CHECK(!scan(text, piece).front().even);
        }
    }
}

DOCTEST_TEST_CASE("fasta_index: letters are not joined over blanks, whatever the pieces") {
    for (const std::string text : {">a\nACGT\nAC GT\n", ">a\nACGT\nA\tC  \r\n", ">a\nACGT\nAC\rGT\nACG\n"}) {
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            DOCTEST_CAPTURE(piece);
            DOCTEST_CHECK(testing::message_of<InputError>([&] {
                              scan(text, piece);
                          }).starts_with("x.fa:3: holds blanks between the letters of a sequence ("));
        }
    }
    DOCTEST_CHECK(message(">a b c\nACGTA CGTAC\n") ==
                  "x.fa:2: holds overlapping k-mers ('ACGTA CGTAC'), and letters are not joined over blanks: "
                  "write the sequence that they spell, as sed -E '/^>/!s/([ACGTNacgtn])[ACGTNacgtn]* /\\1/g' "
                  "FILE does");
}

DOCTEST_TEST_CASE("fasta_index: what is no FASTA is named with its line") {
    DOCTEST_CHECK(
        message("\nACGT\n>a\n") ==
        "x.fa:2: does not begin with a header: a FASTA file begins with '>' and the name of a contig");
    DOCTEST_CHECK(message("chr1\t10\t20\n").starts_with("x.fa:1: does not begin with a header"));
    DOCTEST_CHECK(message(">a\nACGT\n> name\n") ==
                  "x.fa:3: a header without a name: '>' is followed by the contig's name");
    DOCTEST_CHECK(message(std::string(">a\nAC\0GT\n", 9)) ==
                  "x.fa:2: holds a byte that is no text (value 0): a FASTA file is needed");
    DOCTEST_CHECK(scan("", 1).empty());
}

DOCTEST_TEST_CASE("fasta_index: an index whose numbers overflow is refused") {
    const testing::TempDir folder;
    testing::write_file(folder / "x.fa", ">a\nACGT\n");
    const auto text = open_random(folder / "x.fa", Compression::none);
    for (const char* line :
         {"a\t9223372036854775807\t3\t1\t9223372036854775807\n", "a\t9223372036854775807\t3\t2\t4\n",
          "a\t4\t9223372036854775807\t4\t5\n", "a\t4611686018427387904\t3\t1\t4\n"}) {
        DOCTEST_CAPTURE(line);
        testing::write_file(folder / "x.fa.fai", line);
        DOCTEST_CHECK(testing::message_of<InputError>([&] {
                          read_fai(folder / "x.fa.fai", *text);
                      }).find("contig 'a' does not stand where this index says") != std::string::npos);
    }
}

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

DOCTEST_TEST_CASE("other_letters: bytes that are no text, and blanks, are refused behind an index, too") {
    DOCTEST_CHECK(refusal(">a\nACGT\nA GT\n", true) ==
                  ": contig 'a' holds blanks between the letters of a sequence ('A GT'), and letters are not "
                  "joined over blanks: delete them or, if these are k-mers that overlap, write the sequence "
                  "that they spell");
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
