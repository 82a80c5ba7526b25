// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/peak_sheet.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::examples;
namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

DOCTEST_TEST_CASE("peak_sheet: a sheet names labels, groups and files beside it, columns in any order") {
    const testing::TempDir folder;
    fs::create_directory(folder / "peaks");
    testing::write_file(folder / "peaks/a.bed", "");
    testing::write_file(
        folder / "sheet.tsv",
        "# ours\ngroup\tname\tcell\tpath\nTF\tCTCF\tK562\tpeaks/a.bed\n\t CTCF\tH1\tpeaks/a.bed\n");
    const auto files = read_peak_files(Paths{folder / "sheet.tsv"});
    DOCTEST_REQUIRE(files.size() == 2);
    DOCTEST_CHECK(files[0].name == "CTCF");
    DOCTEST_CHECK(files[0].group == "TF");
    DOCTEST_CHECK(files[0].paths == Paths{folder / "peaks/a.bed"});
    DOCTEST_CHECK(files[1].group == ".");
}

DOCTEST_TEST_CASE("peak_sheet: rows of one name and group, and paths between commas, are one label") {
    const testing::TempDir folder;
    for (const char* name : {"a.bed", "b.bed", "c,d.bed"})
        testing::write_file(folder / name, "");
    testing::write_file(folder / "sheet.tsv",
                        "name\tgroup\tpath\nCTCF\tTF\ta.bed,b.bed\nCTCF\tother\ta.bed\nCTCF\tTF\tc,d.bed\n");
    const auto labels = read_peak_files(Paths{folder / "sheet.tsv"});
    DOCTEST_REQUIRE(labels.size() == 2);
    DOCTEST_CHECK(labels[0].paths == Paths{folder / "a.bed", folder / "b.bed", folder / "c,d.bed"});
    DOCTEST_CHECK(labels[1].paths == Paths{folder / "a.bed"});
}

DOCTEST_TEST_CASE("peak_sheet: files name their labels themselves") {
    const auto files = read_peak_files(Paths{testing::test_data("chromatin/A549.CTCF.chr22.narrowPeak.gz"),
                                             testing::test_data("regions/three.bed")});
    DOCTEST_REQUIRE(files.size() == 2);
    DOCTEST_CHECK(files[0].name == "A549.CTCF.chr22");
    DOCTEST_CHECK(files[1].name == "three");
    DOCTEST_CHECK(read_peak_files(Paths{testing::test_data("regions/three.bed")}).size() == 1);
    DOCTEST_CHECK(read_peak_files(Paths{testing::test_data("chromatin/peaks.tsv")}).size() == 109);
}

DOCTEST_TEST_CASE("peak_sheet: faults are named with file and line") {
    const testing::TempDir folder;
    const auto message = [&](const std::string& text) {
        testing::write_file(folder / "s.tsv", text);
        return testing::message_of<InputError>([&] { read_peak_files(Paths{folder / "s.tsv"}); });
    };
    DOCTEST_CHECK(message("name\tpath\nCTCF\tnone.bed\n") ==
                  (folder / "s.tsv").string() + ":2: " + (folder / "none.bed").string() + ": no such file");
    DOCTEST_CHECK(message("name\tpath\nCTCF\n").find("s.tsv:2: needs a name and a path") !=
                  std::string::npos);
    DOCTEST_CHECK(message("name\tpath\n").find("names no files") != std::string::npos);
    DOCTEST_CHECK_THROWS_AS(read_peak_files(Paths{folder / "missing.bed"}), InputError);
}
