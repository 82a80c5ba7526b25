// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_format.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::examples;

DOCTEST_TEST_CASE("contig_list: contigs are read as they were written") {
    const std::vector<genome::Contig> contigs{{"22", 51304566}, {"chr M", 16571}};
    const std::vector<genome::Contig> read =
        examples::contigs_from(Json::parse(examples::contigs_json(contigs).dump()));
    DOCTEST_REQUIRE(read.size() == contigs.size());
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        DOCTEST_CHECK(read[i].name == contigs[i].name);
        DOCTEST_CHECK(read[i].length == contigs[i].length);
    }
    DOCTEST_CHECK(examples::contigs_json({}) == Json::array());
}

DOCTEST_TEST_CASE("contig_list: a list of something else is refused") {
    for (const char* text : {R"([{"name": "22"}])", R"([{"length": 5}])", R"([{"name": 22, "length": 5}])",
                             R"([{"name": "22", "length": 5.5}])", R"(["22"])", R"([["22", 5]])"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK_THROWS_AS(examples::contigs_from(Json::parse(text)), Json::exception);
    }
}

DOCTEST_TEST_CASE("file_checksums: those of the files that are there, as sha256sum prints them") {
    const testing::TempDir folder;
    testing::write_file(folder / "labels.tsv", "abc");
    testing::write_file(folder / "test.bed", "for people");
    DOCTEST_CHECK(file_checksums(folder.path()) ==
                  Json{{"labels.tsv", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}});
}

DOCTEST_TEST_CASE("file_checksums: a file with another, or none in the list, is refused") {
    const testing::TempDir folder;
    testing::write_file(folder / "labels.tsv", "abc");
    const auto message = [&](const Json& manifest) {
        return testing::message_of<InputError>(
            [&] { require_files_of(manifest, folder.path(), {"labels.tsv"}); });
    };
    const Json manifest{{"files", file_checksums(folder.path())}};
    require_files_of(manifest, folder.path(), {"labels.tsv"});
    require_files_of(Json::object(), folder.path(), {"labels.tsv"});
    const std::string lacking =
        (folder / "manifest.json").string() + ": lacks the checksum of labels.tsv; make the examples again";
    DOCTEST_CHECK(message({{"files", Json::object()}}) == lacking);
    DOCTEST_CHECK(message({{"files", 7}}) == lacking);
    DOCTEST_CHECK(message({{"files", {{"labels.tsv", 7}}}}) == lacking);
    testing::write_file(folder / "labels.tsv", "abd");
    DOCTEST_CHECK(message(manifest) == (folder / "labels.tsv").string() +
                                           ": was changed after the examples were made: its checksum is not "
                                           "manifest.json's; make the examples again");
}
