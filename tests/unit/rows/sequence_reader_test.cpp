// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/sequence_reader.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::rows;

namespace {

/// "id:sequence:value,value@line" of each record.
std::vector<std::string> read(const std::string& text, const SequenceColumns& columns) {
    const testing::TempDir folder;
    testing::write_file(folder / "t", text);
    SequenceReader reader(folder / "t", columns);
    std::vector<std::string> records;
    while (const auto record = reader.next()) {
        std::string line = record->id + ":" + record->sequence + ":";
        for (const std::string& value : record->values)
            line += value + ",";
        records.push_back(line + "@" + std::to_string(record->line));
    }
    return records;
}

std::string message(const std::string& text, const SequenceColumns& columns) {
    const testing::TempDir folder;
    testing::write_file(folder / "t", text);
    const std::string what = testing::message_of<InputError>([&] {
        SequenceReader reader(folder / "t", columns);
        while (reader.next()) {
        }
    });
    const std::string path = (folder / "t").string();
    return what.starts_with(path) ? what.substr(path.size()) : "not of the file: " + what;
}

using Records = std::vector<std::string>;
const SequenceColumns labelled{.values = {"label"}};

}  // namespace

DOCTEST_TEST_CASE("sequence_reader: FASTA, CSV and TSV are told by content") {
    DOCTEST_CHECK(read("\n>a first\nACGT\n acgt \r\n>\n\nNN\n>b\nA", {}) ==
                  Records{"a:ACGTacgt:@2", "2:NN:@5", "b:A:@8"});
    DOCTEST_CHECK(read("sequence,label\nACGT,0\n\nTT,\"x,\"\"y\"\"\"\n", labelled) ==
                  Records{"1:ACGT:0,@2", "2:TT:x,\"y\",@4"});
    DOCTEST_CHECK(read("#id\tother\tlabel\tsequence\nr1\t5\t1\tACGT\n", labelled) == Records{"r1:ACGT:1,@2"});
    DOCTEST_CHECK(read("\"id\"\t\"sequence\"\t\"label\"\n\"r 1\"\t\"ACGT\"\t\"5\"\" x\"\n", labelled) ==
                  Records{"r 1:ACGT:5\" x,@2"});
    DOCTEST_CHECK(read("a,b,my id\nAC,x,7\n", {.sequence = "a", .id = "my id", .values = {"b", "3"}}) ==
                  Records{"7:AC:x,7,@2"});
}

DOCTEST_TEST_CASE("sequence_reader: without a header columns are numbers, or what they hold") {
    DOCTEST_CHECK(read("ACGT,0\nTTT,1\n", labelled) == Records{"1:ACGT:0,@1", "2:TTT:1,@2"});
    DOCTEST_CHECK(read("x\tACGU\n", labelled) == Records{"1:ACGU:x,@1"});
    DOCTEST_CHECK(read("ACGT\nTTT\n", {}) == Records{"1:ACGT:@1", "2:TTT:@2"});
    DOCTEST_CHECK(read("q,ACGT,0\n", {.id = "1", .values = {"3"}}) == Records{"q:ACGT:0,@1"});
    DOCTEST_CHECK(read("\"ACGT\",\"x,1\"\nTT,\"y,2\"\n", labelled) ==
                  Records{"1:ACGT:x,1,@1", "2:TT:y,2,@2"});
    DOCTEST_CHECK(read("RYK,ACGT\n", {.sequence = "1", .values = {"2"}}) == Records{"1:RYK:ACGT,@1"});
    DOCTEST_CHECK(read("q 1,0\nNA,1\n", {.sequence = "", .id = "1", .values = {"2"}}) ==
                  Records{"q 1::0,@1", "NA::1,@2"});
}

DOCTEST_TEST_CASE("sequence_reader: the column of sequences decides on the header, or --header does") {
    const SequenceColumns second{.sequence = "2", .values = {"1"}};
    const SequenceColumns first{.sequence = "1", .id = "", .values = {"2", "3"}};
    DOCTEST_CHECK(read("1\tACGT\n2\tTT\n", second) == Records{"1:ACGT:1,@1", "2:TT:2,@2"});
    DOCTEST_CHECK(read("y\tdna\n2\tTT\n", second) == Records{"1:TT:2,@2"});
    DOCTEST_CHECK(read("1\t2\n2\tTT\n", second) == Records{"1:TT:2,@2"});
    DOCTEST_CHECK(read("ACGT,1,x\nTT,2,y\n", first) == Records{"1:ACGT:1,x,@1", "2:TT:2,y,@2"});
    DOCTEST_CHECK(read("0,1,2\nTT,2,y\n", {.sequence = "0", .values = {"2"}}) == Records{"1:TT:y,@2"});
    SequenceColumns forced = second;
    forced.header = true;
    DOCTEST_CHECK(read("1\tACGT\n2\tTT\n", forced) == Records{"1:TT:2,@2"});
    forced.header = false;
    DOCTEST_CHECK(read("1\tseq\n2\tTT\n", forced) == Records{"1:seq:1,@1", "2:TT:2,@2"});
}

DOCTEST_TEST_CASE("sequence_reader: letters are not joined over blanks, and a missing value is no sequence") {
    const std::string joined = "'), and letters are not joined over blanks: ",
                      kmers = "holds overlapping k-mers ('TGACTC GACTCA" + joined +
                              "write the sequence that they spell, as sed -E "
                              "'/^>/!s/([ACGTNacgtn])[ACGTNacgtn]* /\\1/g' FILE does";
    DOCTEST_CHECK(message("sequence\tlabel\nTGACTC GACTCA ACTCAT\t1\n", labelled) == ":2: " + kmers);
    DOCTEST_CHECK(message("TGACTC GACTCA,1\n", {.sequence = "1", .values = {"2"}}) == ":1: " + kmers);
    DOCTEST_CHECK(message(">a\nACGT\n TGACTC GACTCA\n", {}) == ":3: " + kmers);
    DOCTEST_CHECK(message(">a\nACGT\tACGT\n", {}) ==
                  ":2: holds blanks between the letters of a sequence ('ACGT ACGT" + joined +
                      "delete them or, if these are k-mers that overlap, write the sequence that they spell");
    for (const char* table : {"sequence,label\nNA,1\n", "nan,1\n", "sequence\tlabel\n\"NaN\"\t1\n"})
        DOCTEST_CHECK(message(table, {.sequence = "1", .values = {"2"}})
                          .find(", a missing value, for a sequence: delete such records") !=
                      std::string::npos);
    DOCTEST_CHECK(message("id,y\n,1\n", {.sequence = "", .values = {"y"}}) == ":2: has no id");
}

DOCTEST_TEST_CASE("sequence_reader: what is wrong is said with file and line") {
    DOCTEST_CHECK(message("", labelled) == ": holds no sequences");
    DOCTEST_CHECK(message("sequence,y\nACGT,0\n", labelled) ==
                  ":1: has no column 'label'; its columns are 'sequence', 'y'; --label-column names that of "
                  "the labels, --target says what they are");
    std::string wide = "label";
    for (int i = 0; i < 919; ++i)
        wide += "\tcolumn_" + std::to_string(i);
    DOCTEST_CHECK(
        message(wide + "\n", labelled) ==
        ":1: has no column 'sequence'; its columns are 'label', 'column_0', 'column_1', 'column_2', "
        "'column_3', 'column_4', 'column_5', 'column_6', 'column_7', 'column_8', 'column_9', "
        "'column_10', 'column_11' and 907 more; --sequence-column names that of the sequences");
    DOCTEST_CHECK(message("dna,label\nACGT,0\n", labelled) ==
                  ":1: has no column 'sequence'; its columns are 'dna', 'label'; --sequence-column names "
                  "that of the sequences");
    DOCTEST_CHECK(message("ACGT,0,1\n", labelled) ==
                  ":1: has no header that names a column 'label'; its first line holds 'ACGT', '0', '1'; "
                  "--sequence-column and --label-column name the columns or, without a header, their "
                  "numbers, from 1");
    DOCTEST_CHECK(message("dna\tclass\n", labelled) ==
                  ":1: has no header that names a column 'sequence'; its first line holds 'dna', 'class'; "
                  "--sequence-column and --label-column name the columns or, without a header, their "
                  "numbers, from 1");
    DOCTEST_CHECK(message("sequence,label\nACGT\n", labelled) ==
                  ":2: has 1 column where the first line has 2");
    DOCTEST_CHECK(message("sequence\tlabel\n1\tACGT\t0\n", labelled) ==
                  ":2: has 3 columns where the first line has 2; R writes names of rows unless row.names = "
                  "FALSE");
    DOCTEST_CHECK(message("sequence,label\n\"ACGT,0\n", labelled) ==
                  ":2: has a quote that does not end on the line");
    DOCTEST_CHECK(message("sequence,label\nACGT,0\n ,1\n", labelled) == ":3: has an empty sequence");
    DOCTEST_CHECK(message(">a\nA\n>b\n>c\nA\n", {}) == ":3: has an empty sequence");
}

DOCTEST_TEST_CASE("sequence_reader: FASTQ, other separators, capitals and two columns of a name are said") {
    DOCTEST_CHECK(message("@r1 1:N\nACGT\n+\nIIII\n", {}) ==
                  ":1: is FASTQ, by its '@'; write FASTA: sed -n '1~4s/^@/>/p;2~4p' FILE");
    for (const std::string separator : {";", " "})
        DOCTEST_CHECK(message("sequence" + separator + "label\nACGT" + separator + "1\n", labelled) ==
                      ":1: has one column, 'sequence" + separator +
                          "label': columns are separated by commas or tabs, not by '" + separator + "'");
    DOCTEST_CHECK(message("Sequence,Label\nACGT,1\n", labelled) ==
                  ":1: has no column 'sequence', but 'Sequence'; did you mean --sequence-column 'Sequence'?");
    DOCTEST_CHECK(message("sequence, label\nACGT,1\n", labelled) ==
                  ":1: has no column 'label', but ' label'; did you mean --label-column ' label'?");
    for (const char* table : {"sequence,label,label\nACGT,1,0\n", "label,sequence,x,label\n1,ACGT,2,0\n"})
        DOCTEST_CHECK(message(table, labelled) == ":1: has two columns 'label': rename one");
    DOCTEST_CHECK(read("sequence,x,x,label\nACGT,2,3,0\n", labelled) == Records{"1:ACGT:0,@2"});
}

DOCTEST_TEST_CASE("sequence_reader: letters are counted by what they stand for") {
    LetterCounts counts;
    SequenceRecord record{.sequence = "ACGTUacgtuNXnx-.*RYKE", .line = 5};
    normalise(record, counts, "f");
    DOCTEST_CHECK(record.sequence == "ACGTTACGTTNNNNNNNNNNN");
    DOCTEST_CHECK(counts.counts == std::array<std::int64_t, 7>{2, 2, 2, 4, 7, 3, 1});
    DOCTEST_CHECK(counts.complaint() ==
                  "1 of 21 letters stand for no nucleotide, the first 'E' in line 5; they are read as N");
    SequenceRecord protein{.sequence = "MKLLE", .line = 6};
    normalise(protein, counts, "f");
    DOCTEST_CHECK(counts.complaint() ==
                  "4 of 26 letters stand for no nucleotide, the first 'E' in line 5: are these proteins?");
    SequenceRecord digit{.sequence = "AC5", .line = 7};
    DOCTEST_CHECK(testing::message_of<InputError>([&] { normalise(digit, counts, "f"); }) ==
                  "f:7: holds the character '5' at base 3 of its sequence, which is no letter");
    DOCTEST_CHECK(LetterCounts{}.complaint().empty());
}
