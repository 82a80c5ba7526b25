// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/document_writer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cstdlib>

using namespace bigbird;
using namespace bigbird::corpus;
using namespace bigbird::testing;

namespace {

const BuildSpec spec{.documents = {.passes = 2,
                                   .sentences = {3, 6},
                                   .sentence_length = {50, 90},
                                   .start_offset = {0, 40},
                                   .seed = 6},
                     .add_reverse_complement = true};

std::vector<std::vector<std::string>> write_and_read(const genome::ReferenceGenome& genome,
                                                     const std::filesystem::path& path, DocumentForm form) {
    DocumentWriter writer(path, form, spec, Overwrite::refuse, 2);
    build_documents(genome, spec, form == DocumentForm::text ? BuildText::yes : BuildText::no, 2,
                    [&](PlacedDocument&& document) { writer.write(document); });
    writer.commit();
    std::vector<std::vector<std::string>> documents;
    DocumentReader reader(path, &genome);
    while (auto document = reader.next()) {
        documents.push_back(document->sentences);
    }
    return documents;
}

}  // namespace

DOCTEST_TEST_CASE("document_writer: what is read back is what was built, in either form, compressed or not") {
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    std::vector<std::vector<std::string>> built;
    build_documents(*genome, spec, BuildText::yes, 1,
                    [&](PlacedDocument&& document) { built.push_back(document.document().sentences); });
    DOCTEST_REQUIRE(built.size() > 20);
    const TempDir folder;
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.txt", DocumentForm::text) == built);
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.txt.gz", DocumentForm::text) == built);
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.bed", DocumentForm::coordinates) == built);
    DOCTEST_CHECK(write_and_read(*genome, folder / "a.bed.gz", DocumentForm::coordinates) == built);
    const std::string gz = read_file(folder / "a.txt.gz");
    DOCTEST_CHECK(gz.substr(0, 2) == "\x1f\x8b");
}

DOCTEST_TEST_CASE(
    "document_writer: the text is sentences and blank lines, the coordinates are BED6 with a header") {
    const auto genome = genome::in_memory_genome({{"c", "ACGTACGTAC"}});
    const BuildSpec tiny{
        .documents = {.passes = 1, .sentences = {2, 2}, .sentence_length = {4, 4}, .start_offset = {0, 0}},
        .add_reverse_complement = true};
    const TempDir folder;
    for (const DocumentForm form : {DocumentForm::text, DocumentForm::coordinates}) {
        DocumentWriter writer(folder / (form == DocumentForm::text ? "t" : "b"), form, tiny,
                              Overwrite::refuse, 1);
        build_documents(*genome, tiny, BuildText::yes, 1,
                        [&](PlacedDocument&& document) { writer.write(document); });
        writer.commit();
    }
    DOCTEST_CHECK(read_file(folder / "t") == "ACGT\nACGT\n\nACGT\nACGT\n\nAC\n\nGT\n");
    const std::string bed = read_file(folder / "b");

    DOCTEST_CHECK(bed.starts_with("# bigbird-dna "));
    DOCTEST_CHECK(bed.find("\"passes\":1,\"sentences\":\"2:2\"") != std::string::npos);
    const std::size_t rows = bed.find("strand\n") + 7;
    DOCTEST_CHECK(bed.substr(rows) ==
                  "c\t0\t4\t0\t0\t+\nc\t4\t8\t0\t1\t+\nc\t4\t8\t1\t0\t-\nc\t0\t4\t1\t1\t-\nc\t8\t10\t2\t0\t+"
                  "\nc\t8\t10\t3\t0\t-\n");
}

DOCTEST_TEST_CASE("document_writer: samtools and bedtools agree with the text (bedtools getfasta -s)") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    write_and_read(*genome, folder / "a.bed", DocumentForm::coordinates);
    std::filesystem::copy_file(test_data("genome/multi.fa"), folder / "multi.fa");
    const std::string command =
        "bedtools getfasta -s -tab -fi " + (folder / "multi.fa").string() + " -bed " +
        (folder / "a.bed").string() +
        " 2> /dev/null | cut -f 2 | tr acgtryswkmbdhv ACGTNNNNNNNNNN | tr RYSWKMBDHV N > " +
        (folder / "theirs").string();
    DOCTEST_REQUIRE(std::system(command.c_str()) == 0);
    std::string ours;
    for (const auto& document : write_and_read(*genome, folder / "a.txt", DocumentForm::text)) {
        for (const std::string& sentence : document) {
            ours += sentence + "\n";
        }
    }
    DOCTEST_CHECK(read_file(folder / "theirs") == ours);
}

DOCTEST_TEST_CASE("document_writer: nothing appears before commit, and what exists is refused") {
    const TempDir folder;
    {
        DocumentWriter writer(folder / "a.txt", DocumentForm::text, spec, Overwrite::refuse, 1);
        writer.write({"c", false, {{0, 4}}, "ACGT\n"});
    }
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
    write_file(folder / "a.txt", "kept");
    DOCTEST_CHECK_THROWS_AS(DocumentWriter(folder / "a.txt", DocumentForm::text, spec, Overwrite::refuse, 1),
                            ConfigError);
    DOCTEST_CHECK(read_file(folder / "a.txt") == "kept");
}

DOCTEST_TEST_CASE("document_writer: the manifest names parameters, counts and checksums, and no path") {
    const TempDir folder;
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    const BuildCounts counts = build_documents(*genome, spec, BuildText::no, 1, [](PlacedDocument&&) {});
    write_file(folder / "include.bed", "");
    const Json json =
        document_manifest(DocumentForm::text, spec, counts,
                          {{test_data("genome/multi.fa")}, {folder / "include.bed"}, {"chr22:1-10"}});
    DOCTEST_CHECK(json["parameters"]["sentence-length"] == "50:90");
    DOCTEST_CHECK(json["parameters"]["reverse-complement"] == "add");
    DOCTEST_CHECK(json["inputs"][0]["sha256"].get<std::string>().size() == 64);
    DOCTEST_CHECK(json["inputs"][1]["role"] == "include");
    DOCTEST_CHECK(json["inputs"][1]["sha256"] ==
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    DOCTEST_CHECK(json["inputs"][2] == Json{{"role", "exclude"}, {"region", "chr22:1-10"}});
    DOCTEST_CHECK(json["documents"] == counts.documents);
    DOCTEST_CHECK(json.dump().find('/') == std::string::npos);
}
