// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/fasta_index.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::genome::detail;

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
        DOCTEST_REQUIRE(entries.size() == 4);
        DOCTEST_CHECK(entries[0].name == "a");
        DOCTEST_CHECK(entries[0].length == 10);
        DOCTEST_CHECK(entries[0].offset == 10);
        DOCTEST_CHECK(entries[0].line_bases == 4);
        DOCTEST_CHECK(entries[0].line_bytes == 5);
        DOCTEST_CHECK(entries[0].line == 2);
        DOCTEST_CHECK(entries[1].name == "b");
        DOCTEST_CHECK(entries[1].length == 5);
        DOCTEST_CHECK(entries[1].line_bases == 3);
        DOCTEST_CHECK(entries[1].line_bytes == 5);
        DOCTEST_CHECK(entries[2].length == 0);
        DOCTEST_CHECK(entries[3].length == 5);
        DOCTEST_CHECK(entries[3].end == static_cast<std::int64_t>(text.size()));
        for (const FastaEntry& entry : entries)
            DOCTEST_CHECK(entry.even);
    }
}

DOCTEST_TEST_CASE(
    "fasta_index: lines that positions cannot be computed from are found, in pieces of any size") {
    for (const std::string text :
         {">a\nACGT\nAC\nACGT\n", ">a\nAC\nACGT\n", ">a\nACGT\n\nACGT\n", ">a\nAC GT\nACGT\n",
          ">a\nACGT \nACGT\n", ">a\nACGT\r\nACGT\nACGT\n", ">a\nAC\rGT\nACG\n"}) {
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            DOCTEST_CAPTURE(text);
            DOCTEST_CAPTURE(piece);
            DOCTEST_CHECK(!scan(text, piece).front().even);
        }
    }
}

DOCTEST_TEST_CASE("fasta_index: what is no FASTA is named with its line") {
    DOCTEST_CHECK(
        message("\nACGT\n>a\n") ==
        "x.fa:2: does not begin with a header: a FASTA file begins with '>' and the name of a contig");
    DOCTEST_CHECK(message(">a\nACGT\n> name\n") ==
                  "x.fa:3: a header without a name: '>' is followed by the contig's name");
    DOCTEST_CHECK(message(std::string(">a\nAC\0GT\n", 9)) ==
                  "x.fa:2: holds a byte that is no text (value 0): a FASTA file is needed");
    DOCTEST_CHECK(scan("", 1).empty());
}

DOCTEST_TEST_CASE("fasta_index: an index whose numbers overflow is refused") {
    const testing::TempDir folder;
    testing::write_file(folder / "x.fa", ">a\nACGT\n");
    const auto text = open_plain(folder / "x.fa");
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
