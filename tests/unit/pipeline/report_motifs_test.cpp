// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/report_motifs.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/examples/build/chromatin.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::tasks;
using bigbird::testing::holds;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;
using Rows = std::vector<std::int64_t>;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Five labels on 60 bins of 100 bases; bins 0 to 19 are train, 20 to 29 validation, the others test. Label l
/// is at the bins that are l modulo 6 (4 excepted, which has bin 59 only).
examples::ExampleSet sixth_bins(const TempDir& folder) {
    std::string dna;
    while (dna.size() < 6000)
        dna += "ACGTTGCAAC";
    write_file(folder / "g.fa", ">c\n" + dna + "\n");
    examples::ChromatinOptions options;
    for (int label = 0; label < 5; ++label) {
        std::string peaks;
        for (int bin = 0; bin < 60; ++bin)
            if (label == 4 ? bin == 59 : bin % 6 == label)
                peaks += "c\t" + std::to_string(100 * bin) + "\t" + std::to_string(100 * bin + 100) + "\n";
        options.peaks.push_back(folder / (std::to_string(label) + ".bed"));
        write_file(options.peaks.back(), peaks);
    }
    options.references = {folder / "g.fa"};
    options.window = options.bin = 100;
    options.validation = {"c:2001-3000"};
    options.test = {"c:3001-6000"};
    std::filesystem::create_directory(folder / "e");
    examples::build_chromatin(options, folder / "e");
    return examples::ExampleSet::load(folder / "e");
}

}  // namespace

DOCTEST_TEST_CASE("report_motifs: rows of test come first, then those of validation, then of train") {
    const TempDir folder;
    const examples::ExampleSet set = sixth_bins(folder);
    const auto places = [&](const MotifRows& from) {
        Rows bins;
        for (const std::int64_t row : from.rows)
            bins.push_back(set.row(row).where.begin / 100);
        return bins;
    };
    std::vector<MotifRows> chosen = choose_motif_rows(set, 8);
    DOCTEST_REQUIRE(chosen.size() == 4);  // the labels with the most positives
    DOCTEST_CHECK(chosen[3].label == 3);
    DOCTEST_CHECK(places(chosen[0]) == Rows{30, 36, 42, 48, 54, 24, 0, 12});
    DOCTEST_CHECK(chosen[0].of_split == std::array<std::int64_t, 3>{2, 1, 5});
    chosen = choose_motif_rows(set, 2);
    DOCTEST_CHECK(places(chosen[1]) == Rows{31, 43});  // evenly spaced
    DOCTEST_CHECK(chosen[1].of_split == std::array<std::int64_t, 3>{0, 0, 2});
}

DOCTEST_TEST_CASE("report_motifs: a letter is as high as its share of its place's information") {
    const TempDir folder;
    const examples::ExampleSet set = sixth_bins(folder);
    const MotifRows from{.label = 0, .rows = {1, 2}, .of_split = {0, 1, 1}};
    const motifs::Motif motif{.id = "negative_pattern_1",
                              .name = "0",
                              .sites = 9,
                              .shares = {{1, 0, 0, 0}, {0.25, 0.25, 0.25, 0.25}, {0.5, 0, 0, 0.5}}};
    const std::string html =
        motifs_html({{from, {motif}}, {{.label = 1, .rows = {1}, .of_split = {0, 0, 1}}, {}}}, set, {});
    DOCTEST_CHECK(holds(html,
                        "<figcaption>0, lowers the score, 9 sites in 2 sequences: 1 of test, 1 of validation"
                        "</figcaption>"));
    DOCTEST_CHECK(holds(html, "<p>None for 1 in 1 sequence: 1 of test.</p>"));
    DOCTEST_CHECK(count_of(html, "<svg ") == 1);
    // A alone has 2 bits, all of the 60 pixels; the second place has none; A and T have half a bit each.
    DOCTEST_CHECK(count_of(html, "<path ") == 3);
    DOCTEST_CHECK(holds(html, "translate(0.5 0.0) scale(0.130 0.6000)"));
    DOCTEST_CHECK(holds(html, "translate(28.5 45.0) scale(0.130 0.1500)"));
    DOCTEST_CHECK(holds(html, "translate(28.5 30.0) scale(0.130 0.1500)"));

    motifs::Motif other = motif;
    other.id = "M<1";
    other.shares = {{0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const std::string named = motifs_html({{from, {other}}}, set, {motif, other});
    DOCTEST_CHECK(holds(named, "; most similar: M&lt;1 0 (p "));
    DOCTEST_CHECK_FALSE(holds(named, "lowers"));
    DOCTEST_CHECK(motifs_html({}, set, {}).empty());
}
