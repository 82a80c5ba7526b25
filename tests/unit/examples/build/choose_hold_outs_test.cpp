// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/build/bin_regions.hpp"
#include "bigbird/examples/build/sheet.hpp"

using namespace bigbird;
using namespace bigbird::examples;
namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

DOCTEST_TEST_CASE("choose_hold_outs: the contigs nearest to a tenth, never the largest") {
    // Yeast, in kilobases.
    const std::vector<ContigBins> yeast{
        {"I", 230},    {"II", 813},   {"III", 316}, {"IV", 1531}, {"V", 576},  {"VI", 270},
        {"VII", 1091}, {"VIII", 562}, {"IX", 439},  {"X", 745},   {"XI", 666}, {"XII", 1078},
        {"XIII", 924}, {"XIV", 784},  {"XV", 1092}, {"XVI", 948}, {"Mito", 86}};
    const std::vector<HeldOut> chosen = choose_hold_outs(yeast, 2);
    DOCTEST_CHECK(chosen == std::vector<HeldOut>{{{"XV"}, 0}, {{"VII"}, 0}});
    DOCTEST_CHECK(choose_hold_outs(yeast, 1).front() == chosen.front());
    // The largest is nearest to a tenth, and stays; of equal ones the earlier goes first.
    std::vector<ContigBins> even{{"a", 110}};
    for (const char* name : {"b", "c", "d", "e", "f", "g", "h", "i", "j"})
        even.push_back({name, 99});
    DOCTEST_CHECK(choose_hold_outs(even, 2) == std::vector<HeldOut>{{{"b"}, 0}, {{"c"}, 0}});
}

DOCTEST_TEST_CASE("choose_hold_outs: a stretch of the largest contig where contigs do not fit") {
    const std::vector<ContigBins> one{{"22", 29'000}};
    DOCTEST_CHECK(choose_hold_outs(one, 2) == std::vector<HeldOut>{{{"22"}, 2900}, {{"22"}, 2900}});
    const std::vector<ContigBins> two{{"1", 500}, {"2", 400}};  // 2 is more than twice the aim
    DOCTEST_CHECK(choose_hold_outs(two, 1) == std::vector<HeldOut>{{{"1"}, 90}});
    const std::vector<ContigBins> bacterium{{"chromosome", 9700}, {"plasmid", 300}};
    DOCTEST_CHECK(choose_hold_outs(bacterium, 1) == std::vector<HeldOut>{{{"chromosome"}, 1000}});
    // 4.4 % are enough for one set; the other gets a stretch.
    const std::vector<ContigBins> three{{"20", 59'500}, {"X", 66'200}, {"22", 5'800}};
    DOCTEST_CHECK(choose_hold_outs(three, 2) == std::vector<HeldOut>{{{"22"}, 0}, {{"X"}, 13'150}});
}

DOCTEST_TEST_CASE("choose_hold_outs: contigs of a draft add up, those without bins are left alone") {
    std::vector<ContigBins> draft{{"empty", 0}};
    for (int i = 0; i < 200; ++i)
        draft.push_back({"scaffold" + std::to_string(i), 50 + (i == 7 ? 1 : 0)});
    const std::vector<HeldOut> chosen = choose_hold_outs(draft, 2);
    for (const HeldOut& set : chosen) {
        DOCTEST_CHECK(set.bins == 0);
        DOCTEST_CHECK(set.contigs.size() == 14);
    }
    DOCTEST_CHECK(chosen[0].contigs.front() == "scaffold0");
    DOCTEST_CHECK(chosen[1].contigs.front() == "scaffold15");  // behind 14 and the largest
}

DOCTEST_TEST_CASE("choose_hold_outs: too small a genome is refused with what to do") {
    const std::vector<ContigBins> small{{"a", 150}, {"b", 49}};
    DOCTEST_CHECK_THROWS_WITH_AS(
        choose_hold_outs(small, 2),
        "the reference has 199 bins with sequence on contigs with peaks, too few to hold "
        "some out (200 are needed); give more sequence, or --validation and --test",
        InputError);
    DOCTEST_CHECK_THROWS_AS(choose_hold_outs({}, 1), InputError);
}

DOCTEST_TEST_CASE("peak_sheet: a sheet names labels, groups and files beside it, columns in any order") {
    const testing::TempDir folder;
    fs::create_directory(folder / "peaks");
    testing::write_file(folder / "peaks/a.bed", "");
    testing::write_file(folder / "sheet.tsv",
                        "# \"ours\ngroup\t\"name\"\tcell\t\"path\"\nTF\t\"CTCF\"\tNA\t\"peaks/a.bed\"\n\t "
                        "CTCF\tH1\tpeaks/a.bed\n");
    const auto files = read_label_files(Paths{folder / "sheet.tsv"});
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
    const auto labels = read_label_files(Paths{folder / "sheet.tsv"});
    DOCTEST_REQUIRE(labels.size() == 2);
    DOCTEST_CHECK(labels[0].paths == Paths{folder / "a.bed", folder / "b.bed", folder / "c,d.bed"});
    DOCTEST_CHECK(labels[1].paths == Paths{folder / "a.bed"});
}

DOCTEST_TEST_CASE("peak_sheet: files name their labels themselves") {
    const auto files = read_label_files(Paths{testing::test_data("chromatin/A549.CTCF.chr22.narrowPeak.gz"),
                                              testing::test_data("regions/three.bed")});
    DOCTEST_REQUIRE(files.size() == 2);
    DOCTEST_CHECK(files[0].name == "A549.CTCF.chr22");
    DOCTEST_CHECK(files[1].name == "three");
    DOCTEST_CHECK(read_label_files(Paths{testing::test_data("regions/three.bed")}).size() == 1);
    DOCTEST_CHECK(read_label_files(Paths{testing::test_data("chromatin/peaks.tsv")}).size() == 109);
}

DOCTEST_TEST_CASE("peak_sheet: faults are named with file and line") {
    const testing::TempDir folder;
    const auto message = [&](const std::string& text) {
        testing::write_file(folder / "s.tsv", text);
        return testing::message_of<InputError>([&] { read_label_files(Paths{folder / "s.tsv"}); });
    };
    DOCTEST_CHECK(message("name\tpath\nCTCF\tnone.bed\n") ==
                  (folder / "s.tsv").string() + ":2: " + (folder / "none.bed").string() + ": no such file");
    DOCTEST_CHECK(testing::holds(message("name\tpath\nCTCF\n"), "s.tsv:2: needs a name and a path"));
    DOCTEST_CHECK(testing::holds(message("name\tpath\n"), "names no files"));
    DOCTEST_CHECK(testing::holds(message("name\tpath\nNA\ta.bed\n"), "s.tsv:2: needs a name and a path"));
    DOCTEST_CHECK(
        testing::holds(message("name\tpath\tgroup\na\ta.bed\tNA\n"),
                       "s.tsv:2: has 'NA', a missing value, as its group: leave the field empty for none"));
    DOCTEST_CHECK(
        testing::holds(message("name\tpath\n\"a\ta.bed\n"), "s.tsv:2: has a quote that does not end"));
    for (const std::string column : {"Scale", "scale "})
        DOCTEST_CHECK(message("name\tpath\t" + column + "\na\ta.bed\t8\n") ==
                      (folder / "s.tsv").string() + ":1: has the column '" + column +
                          "'; did you mean scale?");
    DOCTEST_CHECK(
        testing::holds(message("name\tpath\tname\na\ta.bed\tb\n"), "s.tsv:1: has two columns 'name'"));
    for (const std::string head : {"name,path", "Name\tPath", "name\tpath ", "\"Path\";\"Name\""})
        DOCTEST_CHECK(testing::holds(message("#\n" + head + "\n"), "s.tsv:2: has the header '" + head +
                                                                       "': a sheet has tabs, and no blanks"));
    DOCTEST_CHECK_THROWS_AS(read_label_files(Paths{folder / "missing.bed"}), InputError);
    for (const char* name : {"A", "B"}) {
        fs::create_directory(folder / name);
        testing::write_file(folder / name / "x.narrowPeak", "");
    }
    const fs::path one = folder / "A" / "x.narrowPeak", other = folder / "B" / "x.narrowPeak";
    DOCTEST_CHECK_THROWS_WITH_AS(
        read_label_files(Paths{one, other}),
        (one.string() + " and " + other.string() +
         " are both called 'x': rename one or give a sheet with the columns name and path")
            .c_str(),
        ConfigError);
}
