// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_reader.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

namespace {

using Documents = std::vector<std::vector<std::string>>;

Documents read(const std::string& content, const genome::ReferenceGenome* genome = nullptr) {
    const TempDir folder;
    write_file(folder / "documents", content);
    DocumentReader reader(folder / "documents", genome);
    Documents documents;
    while (auto document = reader.next()) {
        documents.push_back(std::move(document->sentences));
    }
    DOCTEST_CHECK_FALSE(reader.next().has_value());
    return documents;
}

// The error less the path of the file, which is temporary.
std::string message(const std::string& content, const genome::ReferenceGenome* genome = nullptr) {
    const std::string text = message_of<InputError>([&] { read(content, genome); });
    return text.substr(text.find("/documents:") + 11);
}

}  // namespace

DOCTEST_TEST_CASE("document_reader: text, whatever its blank lines, line ends and case") {
    const Documents expected{{"ACGT", "NNTTN"}, {"GATTACA"}};
    DOCTEST_CHECK(read("ACGT\nNNTTN\n\nGATTACA\n") == expected);
    DOCTEST_CHECK(read("\n\nacgu\r\nrnTTy\r\n\r\n\r\nGATTACA") == expected);
    DOCTEST_CHECK(read("ACGT\nNNTTN\n\nGATTACA\n\n\n") == expected);
    DOCTEST_CHECK(read("").empty());
    DOCTEST_CHECK(read("\n\n").empty());
}

DOCTEST_TEST_CASE("document_reader: a long document comes in parts where they are asked for") {
    const TempDir folder;
    write_file(folder / "documents", "A\nC\nG\nT\n\n\nAA\nCC\nGG\n");
    DocumentReader reader(folder / "documents");
    Documents parts;
    while (auto part = reader.next(2)) {
        parts.push_back(std::move(part->sentences));
    }
    DOCTEST_CHECK(parts == Documents{{"A", "C"}, {"G", "T"}, {"AA", "CC"}, {"GG"}});
}

DOCTEST_TEST_CASE("document_reader: coordinates, both strands, through aliases") {
    const auto genome =
        genome::in_memory_genome({{"22", "AACCGGTTAN"}, {"1", std::string(5000, 'c') + "GATTACA"}});
    const std::string bed =
        "#contig\tstart\tend\tdocument\tsentence\tstrand\n"
        "22\t0\t4\t0\t0\t+\n22\t4\t9\t0\t1\t+\n"
        "22\t4\t9\t1\t0\t-\n22\t0\t4\t1\t1\t-\n"
        "# a comment\nchr1\t5000\t5007\t2\t0\t+\nchr1\t0\t2\t2\t1\t.\n";
    DOCTEST_CHECK(read(bed, genome.get()) ==
                  Documents{{"AACC", "GGTTA"}, {"TAACC", "GGTT"}, {"GATTACA", "CC"}});
    DOCTEST_CHECK(read("#contig\tstart\tend\n", genome.get()).empty());
}

DOCTEST_TEST_CASE("document_reader: what is no document is refused with its line") {
    const auto genome = genome::in_memory_genome({{"22", "AACCGGTTAN"}});
    DOCTEST_CHECK(message("ACGT\n\nAC GT\n") ==
                  "3: holds ' ', which is no letter of a sequence; one sequence a line is needed, without "
                  "blanks or gaps");
    DOCTEST_CHECK(message(">22\nACGT\n") ==
                  "1: is a FASTA header, and plain sequence is needed here, one a line");
    DOCTEST_CHECK(
        message("22\t0\t4\t0\t0\t+\n") ==
        "1: holds coordinates, not sequence; give the genome that they point into with --reference");
    DOCTEST_CHECK(message("22\t0\t4\n", genome.get()) ==
                  "1: has 3 columns; coordinates of documents have six: contig, start, end, document, "
                  "sentence, strand");
    DOCTEST_CHECK(message("22\t0\t4\t0\t0\t+\n22\t8\tx\t0\t1\t+\n", genome.get()) ==
                  "2: start '8' and end 'x' are not two rising whole numbers");
    DOCTEST_CHECK(message("22\t8\t8\t0\t0\t+\n", genome.get()) ==
                  "1: start '8' and end '8' are not two rising whole numbers");
    DOCTEST_CHECK(
        message("#\n7\t0\t4\t0\t0\t+\n", genome.get()) ==
        "2: the reference has no contig '7'; give the --reference that the documents were built from");
    DOCTEST_CHECK(message("22\t5\t11\t0\t0\t+\n", genome.get()) ==
                  "1: ends at 11, past the end of contig '22' (10); give the --reference that the documents "
                  "were built from");
    DOCTEST_CHECK(message("22\t0\t4\t0\t0\tx\n", genome.get()) == "1: strand 'x' is neither +, - nor .");
    for (const std::string numbers : {"x\t0", "0\t-1", "0\t1.5", "\t0"}) {
        DOCTEST_CHECK(
            message("22\t0\t4\t" + numbers + "\t+\n", genome.get()).ends_with("are not two whole numbers"));
    }
    const std::string row = "22\t0\t4\t3\t5\t+\n";
    DOCTEST_CHECK(message(row + row, genome.get()) ==
                  "2: sentence 5 follows sentence 5 of the same document");
    DOCTEST_CHECK_THROWS_AS(DocumentReader("no/such/file"), InputError);
}
