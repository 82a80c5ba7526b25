// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/sequence_lines.hpp"

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

namespace {

using Convert = LineCounts (*)(genome::TextInput&, const tokenizer::DnaTokenizer&, int, genome::TextOutput&);

struct Converted {
    std::string text;
    LineCounts counts;
};

Converted convert(Convert conversion, const std::string& content, int threads = 2) {
    const TempDir folder;
    write_file(folder / "in", content);
    genome::TextInput input(folder / "in");
    genome::TextOutput output(folder / "out", Overwrite::refuse);
    const auto tokenizer = small_tokenizer();
    Converted converted;
    converted.counts = conversion(input, tokenizer, threads, output);
    output.commit();
    converted.text = read_file(folder / "out");
    return converted;
}

std::string message(Convert conversion, const std::string& content) {
    const std::string text = message_of<InputError>([&] { convert(conversion, content); });
    return text.substr(text.find("/in:") + 4);
}

}  // namespace

DOCTEST_TEST_CASE("sequence_lines: a line of ids for each line of sequence and back") {
    const auto encoded = convert(encode_lines, "ACGTN\n\ngattaca\r\nTTTTTTTTTTTTTTTTT");
    DOCTEST_CHECK(encoded.text.starts_with("508 509 510 507 511\n\n"));
    DOCTEST_CHECK(encoded.text.ends_with("\n450 507\n"));
    DOCTEST_CHECK(encoded.counts.lines == 4);
    DOCTEST_CHECK(encoded.counts.bases == 5 + 7 + 17);
    const auto decoded = convert(decode_lines, encoded.text);
    DOCTEST_CHECK(decoded.text == "ACGTN\n\nGATTACA\nTTTTTTTTTTTTTTTTT\n");
    DOCTEST_CHECK(decoded.counts.tokens == encoded.counts.tokens);
    DOCTEST_CHECK(convert(decode_lines, "2  508\t509 3 \n").text == "AC\n");
    DOCTEST_CHECK(convert(encode_lines, "").text.empty());
}

DOCTEST_TEST_CASE("sequence_lines: the same on any number of threads") {
    const std::string sentences = read_file(test_data("tokenizer/sentences.txt"));
    const auto one = convert(encode_lines, sentences, 1), many = convert(encode_lines, sentences, 5);
    DOCTEST_CHECK(one.text == many.text);
    std::string batches;  // two of them, and a third begun
    while (batches.size() < 9'000'000)
        batches += sentences;
    const auto alone = convert(encode_lines, batches, 1), together = convert(encode_lines, batches, 3);
    DOCTEST_CHECK(alone.text == together.text);
    DOCTEST_CHECK(alone.counts.tokens == together.counts.tokens);
    DOCTEST_CHECK(alone.text.starts_with(one.text + one.text));
    DOCTEST_CHECK(convert(decode_lines, one.text, 3).text == sentences);
}

DOCTEST_TEST_CASE("sequence_lines: what is no sequence, or no id, is refused with its line") {
    DOCTEST_CHECK(message(encode_lines, "ACGT\n>22\nACGT\n") ==
                  "2: is a FASTA header, and plain sequence is needed here, one a line");
    DOCTEST_CHECK(message(encode_lines, "ACGT\nAC-GT\n") ==
                  "2: holds '-', which is no letter of a sequence; one sequence a line is needed, without "
                  "blanks or gaps");
    DOCTEST_CHECK(message(encode_lines, "ACGT\nACG CGT GTA\n")
                      .starts_with("2: holds overlapping k-mers ('ACG CGT'), and letters are not joined over "
                                   "blanks: write the sequence that they spell, as sed"));
    DOCTEST_CHECK(message(encode_lines, "ACGT \n").starts_with("1: holds ' ', which is no letter"));
    DOCTEST_CHECK(
        message(decode_lines, "5 6\n\n7 512\n") ==
        "3: '512' is no token id; this tokenizer's ids are whole numbers from 0 to 511, separated by blanks");
    DOCTEST_CHECK(message(decode_lines, "5 6x\n").starts_with("1: '6x' is no token id"));
    DOCTEST_CHECK(message(decode_lines, "-1\n").starts_with("1: '-1' is no token id"));
    DOCTEST_CHECK(message(decode_lines, "99999999999\n").starts_with("1: '99999999999' is no token id"));
}

DOCTEST_TEST_CASE("sequence_lines: of all characters, the letters are sequence") {
    for (int character = 0; character < 256; ++character) {
        const char c = static_cast<char>(character);
        const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool refused = false;
        try {
            expect_sequence_line(std::string("ACGT") + c + "T", "file", 1);
        } catch (const InputError&) {
            refused = true;
        }
        DOCTEST_CHECK(refused != letter);
    }
}
