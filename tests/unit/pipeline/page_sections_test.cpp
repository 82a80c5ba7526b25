// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/page_sections.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/rows/score_table.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::tasks;
using bigbird::testing::holds;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;

namespace {

/// Two labels on a contig of 6,000 bases, of which all but the first 1,000 are test.
examples::ChromatinOptions small_options(const TempDir& folder) {
    std::string dna;
    while (dna.size() < 6000)
        dna += "ACGTTGCAAC";
    write_file(folder / "g.fa", ">c\n" + dna + "\n");
    write_file(folder / "a.bed", "c\t100\t300\nc\t2000\t2400\nc\t5000\t5200\n");
    write_file(folder / "b.bed", "c\t2100\t2300\nc\t4200\t4400\nc\t4500\t4700\nc\t4800\t4900\n");
    examples::ChromatinOptions options;
    options.peaks = {folder / "a.bed", folder / "b.bed"};
    options.references = {folder / "g.fa"};
    options.window = options.bin = 100;
    options.test = {"c:1001-6000"};
    return options;
}

}  // namespace

DOCTEST_TEST_CASE("region_tracks: stretches of test with most labels, then with most positives") {
    const TempDir folder;
    const examples::ChromatinOptions options = small_options(folder);
    std::filesystem::create_directory(folder / "e");
    examples::build_chromatin(options, folder / "e");
    const auto set = examples::ExampleSet::load(folder / "e");
    const std::vector<ShownRegion> regions = choose_regions(set, 1000, 5);
    DOCTEST_REQUIRE(regions.size() == 3);                                  // others have no positives
    DOCTEST_CHECK(regions[0].where == genome::Interval{"c", 2000, 3000});  // 4 of a and 2 of b
    DOCTEST_CHECK(regions[0].labels == std::vector<std::size_t>{0, 1});
    DOCTEST_CHECK(regions[1].where == genome::Interval{"c", 4000, 5000});  // 5 of b
    DOCTEST_CHECK(regions[1].labels == std::vector<std::size_t>{1});
    DOCTEST_CHECK(regions[2].where == genome::Interval{"c", 5000, 6000});  // 2 of a
    DOCTEST_CHECK(choose_regions(set, 1000, 1).size() == 1);

    std::string table = "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\ta\tb\n";
    for (std::int64_t begin = 1000; begin < 6000; begin += 100)
        table += "c\t" + std::to_string(begin) + "\t" + std::to_string(begin + 100) + "\t.\t.\t.\tok\t0\t" +
                 (begin == 2000 ? "0.75" : "0") + "\tNA\n";
    write_file(folder / "s.tsv", table);
    const std::string html = tracks_html(options, set, folder / "s.tsv");
    DOCTEST_CHECK(holds(html, "<figcaption>c:1001-6000</figcaption>"));  // one of 100 kb
    DOCTEST_CHECK(holds(html, ">a, 0 to 0.75</text>"));
    DOCTEST_CHECK(holds(html, ">b, 0 to 0</text>"));  // no scores
    // The second track is that of a: its bin at 2,000 is 44 pixels high, the peak there 400 of 5,000 bases
    // wide.
    DOCTEST_CHECK(holds(html, "L208.0 94.0H228.0"));
    DOCTEST_CHECK(holds(html, "<rect x=208.0 y=141 width=80.0 height=7 fill='#222'/>"));
}
