// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/tracks.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/labelled_bins.hpp"

#include <algorithm>
#include <array>
#include <exception>

using namespace bigbird;
using namespace bigbird::examples;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
using bigbird::testing::write_file;
namespace fs = std::filesystem;

namespace {

/// Bins of 50 bases of the yeast's contigs I and VI; VI is held out.
TrackOptions yeast(const std::vector<fs::path>& signals) {
    TrackOptions options;
    options.signals = signals;
    options.references = {test_data("genome/yeast.fa.gz")};
    options.bin = 50;
    options.include = {"I", "VI"};
    options.validation = {"VI"};
    return options;
}

ExampleSet built(const TrackOptions& options, const fs::path& folder) {
    fs::create_directory(folder);
    build_tracks(options, folder);
    return ExampleSet::load(folder);
}

/// What building a track of a genome of two contigs of 1,000 bases says; empty where it works.
std::string failure(const std::string& name, const std::string& rows, const std::string& sheet = {}) {
    const TempDir folder;
    const fs::path fasta = folder / "two.fa", signal = folder / name;
    std::string dna;
    while (dna.size() < 1000)
        dna += "ACGTTGCAAC";
    write_file(fasta, ">a\n" + dna + "\n>b\n" + dna + "\n");
    write_file(signal, rows);
    TrackOptions options;
    options.signals = {signal};
    options.references = {fasta};
    options.bin = 100;
    options.validation = {"b"};
    if (!sheet.empty()) {
        write_file(folder / "sheet.tsv", sheet);
        options.signals = {folder / "sheet.tsv"};
    }
    try {
        built(options, folder / "out");
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace

DOCTEST_TEST_CASE("tracks: numbers of bins are numpy's and pyBigWig's") {
    const TempDir folder;
    const Json oracle = read_json(test_data("tracks/numbers.json"));
    const ExampleSet ends = built(yeast({test_data("tracks/yeast.bedpe.gz")}), folder / "ends");
    const ExampleSet means = built(yeast({test_data("tracks/yeast.bw")}), folder / "means");
    DOCTEST_CHECK(ends.target() == TargetKind::numbers);
    DOCTEST_REQUIRE(ends.size() == means.size());
    std::size_t compared = 0;
    for (std::int64_t row = 0; row < ends.size(); ++row) {
        const ExampleRow where = ends.row(row);
        if (where.where.contig != "I") continue;
        const auto bin = static_cast<std::size_t>(where.where.begin / 50);
        DOCTEST_CHECK(ends.numbers(row)[0] == oracle["ends"][bin].get<float>());
        DOCTEST_CHECK(means.numbers(row)[0] ==
                      doctest::Approx(oracle["mean"][bin].get<double>()).epsilon(1e-5));
        ++compared;
    }
    DOCTEST_CHECK(compared == oracle["ends"].size());
    DOCTEST_CHECK(ends.label_table()[0].name == "yeast");
}

DOCTEST_TEST_CASE("tracks: a bedGraph gives what the bigWig gives, fragments their coverage") {
    const TempDir folder;
    TrackOptions options = yeast({test_data("tracks/yeast.bedgraph")});
    options.include = {"I:1-20000"};
    options.validation = {"I:15001-20000"};
    const ExampleSet text = built(options, folder / "text");
    options.signals = {test_data("tracks/yeast.bw")};
    const ExampleSet binary = built(options, folder / "binary");
    options.signals = {test_data("tracks/yeast.bedpe.gz")};
    options.reading.counted = Counted::fragments;
    const ExampleSet fragments = built(options, folder / "fragments");
    DOCTEST_REQUIRE(text.size() == 400 - 8);  // eight windows of train reach into those of validation
    for (std::int64_t row = 0; row < text.size(); ++row) {
        DOCTEST_CHECK(text.numbers(row)[0] == doctest::Approx(binary.numbers(row)[0]));
        DOCTEST_CHECK(text.numbers(row)[0] == doctest::Approx(fragments.numbers(row)[0]));
    }
    const LabelledBins bins = LabelledBins::load(folder / "text");
    DOCTEST_CHECK(bins.has_numbers());
    DOCTEST_CHECK(bins.stretches().size() == 2);
    DOCTEST_CHECK(bins.numbers(7)[0] == text.numbers(7)[0]);
}

DOCTEST_TEST_CASE("tracks: a sheet scales and clips, and says how in the manifest") {
    const TempDir folder;
    write_file(folder / "plain.tsv", "path\tname\n" + test_data("tracks/yeast.bedpe.gz").string() +
                                         "\tends\n" + test_data("tracks/yeast.bw").string() + "\tcoverage\n");
    const ExampleSet plain = built(yeast({folder / "plain.tsv"}), folder / "plain");
    const ExampleSet sheet = built(yeast({test_data("tracks/tracks.tsv")}), folder / "sheet");
    constexpr double fragments = 13765;
    float most = 0;
    for (std::int64_t row = 0; row < plain.size(); ++row) {
        const auto before = plain.numbers(row), after = sheet.numbers(row);
        DOCTEST_CHECK(after[0] == doctest::Approx(1e6 * static_cast<double>(before[0]) / fragments));
        DOCTEST_CHECK(after[1] == doctest::Approx(std::min(0.5 * static_cast<double>(before[1]), 20.0)));
        most = std::max(most, after[1]);
    }
    DOCTEST_CHECK(most == 20);
    DOCTEST_CHECK(sheet.manifest()["parameters"]["tracks"][0]["scale"] == "cpm");
    DOCTEST_CHECK(sheet.label_table()[1].name == "coverage");
}

DOCTEST_TEST_CASE("tracks: what is no coverage is refused, with the line") {
    DOCTEST_CHECK(
        testing::holds(failure("x.bedgraph", "a\t0\t100\t1\na\t50\t150\t1\n"), "x.bedgraph:2: overlaps"));
    for (const char* text : {"nan", "+-1", "++1", "+"})
        DOCTEST_CHECK(testing::holds(failure("x.bedgraph", "a\t0\t100\t" + std::string(text) + "\n"),
                                     "no finite number"));
    DOCTEST_CHECK(failure("x.bedgraph", "a\t0\t100\t+.5\n").empty());
    DOCTEST_CHECK(testing::holds(failure("x.bedgraph", "a\t0\t40\t10\na\t40\t50\t-1\n"),
                                 "holds the negative number -1 at a:41"));
    DOCTEST_CHECK(testing::holds(failure("x.bedgraph", "a\t0\t100\t1e39\n"), "too large"));
    DOCTEST_CHECK(
        testing::holds(failure("x.bed", "a\t0\t50\tb\t10\t60\n"), "no signal on the bins of train"));
    DOCTEST_CHECK(testing::holds(failure("x.bedgraph", "b\t0\t100\t1\n"), "no signal on the bins of train"));
    DOCTEST_CHECK(
        testing::holds(failure("x.bedgraph", "a\t0\t100\n"), "x.bedgraph:1: is no row of a bedGraph"));
    DOCTEST_CHECK(testing::holds(failure("x.bed", "c\t0\t100\nc\t5\t80\n"), "do not fit the reference"));
    DOCTEST_CHECK(testing::holds(failure("x.bw", "no bigWig"), "is no bigWig"));
    DOCTEST_CHECK(testing::holds(failure("x.txt", ""), "does not say what signal it holds"));
    DOCTEST_CHECK(
        testing::holds(failure("x.bedgraph", "a\t0\t100\t1\n", "name\tpath\tscale\nt\tx.bedgraph\tcpm\n"),
                       "cpm is for fragments"));
    DOCTEST_CHECK(failure("x.bedgraph", "a\t0\t100\t-1\n", "name\tpath\tscale\nt\tx.bedgraph\t-1\n").empty());
}

DOCTEST_TEST_CASE("tracks: rows that do not count, and bins without data, are told") {
    const TempDir folder;
    write_file(folder / "some.bed", "I\t100\t200\nI\t300\t999999\nI\t0\t50\t.\t-1\t-1\n");
    const bigbird::testing::CapturedLog log;
    built(yeast({folder / "some.bed"}), folder / "examples");
    DOCTEST_CHECK(testing::holds(log.text(), "1 of 2 rows do not count: 1 past a contig's end"));
    DOCTEST_CHECK(
        testing::holds(log.text(), "pairs on two contigs, or with an unmapped read, do not count: 1 row"));
    DOCTEST_CHECK(testing::holds(log.text(),
                                 " % of the bins for training are in stretches of 200 bins or more "
                                 "without signal"));
}

DOCTEST_TEST_CASE("tracks: columns of a sheet say how fragments count, and name strand pairs") {
    const std::string rows = "a\t0\t100\t1\n", head = "name\tpath\tstrand_pair\tscale\n";
    const auto sheet = [&](const std::string& text) { return failure("x.bedgraph", rows, text); };
    DOCTEST_CHECK(testing::holds(sheet("name\tpath\tcount\nt\tx.bedgraph\tall\n"),
                                 "sheet.tsv:2: column count is ends or fragments, not 'all'"));
    DOCTEST_CHECK(
        testing::holds(sheet("name\tpath\tshift\nt\tx.bedgraph\t4\n"),
                       "sheet.tsv:2: has '4' in column shift, not two numbers of bases such as 4,-4"));
    DOCTEST_CHECK(testing::holds(sheet(head + "p\tx.bedgraph\tm\t\nm\tx.bedgraph\t\t\n"),
                                 "track p has the strand_pair m, which must be a track of its group with the "
                                 "strand_pair p"));
    DOCTEST_CHECK(testing::holds(sheet(head + "p\tx.bedgraph\t\t1\np\tx.bedgraph\t\t2\n"), "are added up"));
    const TempDir folder;
    const std::string file = test_data("tracks/yeast.bedpe.gz").string();
    write_file(folder / "sheet.tsv", "name\tpath\tstrand_pair\tcount\tshift\taggregate\nplus\t" + file +
                                         "\tminus\tends\t4,-4\tsum\nminus\t" + file +
                                         "\tplus\tfragments\t\t\n");
    const ExampleSet both = built(yeast({folder / "sheet.tsv"}), folder / "both");
    TrackOptions options = yeast({file});
    options.reading.begin_shift = 4;
    options.reading.end_shift = -4;
    const ExampleSet ends = built(options, folder / "ends");
    options = yeast({file});
    options.reading.counted = Counted::fragments;
    const ExampleSet fragments = built(options, folder / "fragments");
    for (std::int64_t row = 0; row < both.size(); ++row) {
        DOCTEST_CHECK(both.numbers(row)[0] == ends.numbers(row)[0]);
        DOCTEST_CHECK(both.numbers(row)[1] == fragments.numbers(row)[0]);
    }
    DOCTEST_CHECK(both.label_table().on_other_strand(0) == 1);
    DOCTEST_CHECK(both.manifest()["parameters"]["tracks"][0]["shift"] == Json({4, -4}));
}

DOCTEST_TEST_CASE("tracks: a bigWig whose contigs differ a little is of another assembly, a slice is not") {
    const TempDir folder;
    TrackOptions options = yeast({test_data("tracks/yeast.bw")});
    const std::string dna(300000, 'A');
    options.references = {folder / "other_lengths.fa"};
    options.include.clear();
    options.validation = {"chrVI"};
    const auto with_lengths = [&](std::size_t one, std::size_t six) {
        write_file(folder / "other_lengths.fa",
                   ">chrI\n" + dna.substr(0, one) + "\n>chrVI\n" + dna.substr(0, six) + "\n");
        return built(options, folder / "out");
    };
    for (const std::size_t length : {300000U, 230217U, 210000U}) {
        const std::string message =
            bigbird::testing::message_of<InputError>([&] { with_lengths(length, 100000); });
        DOCTEST_CHECK(testing::holds(message, "is it of another assembly?"));
    }
    DOCTEST_CHECK(with_lengths(100000, 100000).size() > 0);
    write_file(folder / "other.fa", ">chrM\n" + dna + "\n>scaffold\n" + dna + "\n");
    options.references = {folder / "other.fa"};
    options.validation = {"chrM"};
    DOCTEST_CHECK(
        testing::holds(bigbird::testing::message_of<InputError>([&] { built(options, folder / "again"); }),
                       "has no contig of --reference"));
}

DOCTEST_TEST_CASE("tracks: ends are shifted") {
    const TempDir folder;
    write_file(folder / "one.bed", "I\t100\t200\nVI\t100\t200\n");
    TrackOptions options = yeast({folder / "one.bed"});
    options.bin = 5;
    options.reading.begin_shift = 4;
    options.reading.end_shift = -4;
    const ExampleSet set = built(options, folder / "out");
    std::vector<std::int64_t> with;
    for (std::int64_t row = 0; row < set.size(); ++row)
        if (set.numbers(row)[0] > 0 && set.row(row).where.contig == "I")
            with.push_back(set.row(row).where.begin);
    DOCTEST_CHECK(with == std::vector<std::int64_t>{100, 195});  // bases 104 and 195
}

DOCTEST_TEST_CASE("tracks: reads of ChIP-seq are two tracks, and files of one track are added up") {
    const TempDir folder;
    const std::string bam = test_data("tracks/reads.bam").string(),
                      cram = test_data("tracks/reads.cram").string();
    write_file(folder / "sheet.tsv", "name\tpath\tassay\tmin_mapq\tkeep_duplicates\nctcf\t" + bam +
                                         "\tchip\t0\tyes\nboth\t" + bam + "\t\t\t\nboth\t" + cram +
                                         "\t\t\t\n");
    const ExampleSet set = built(yeast({folder / "sheet.tsv"}), folder / "out");
    const rows::LabelTable& labels = set.label_table();
    DOCTEST_REQUIRE(labels.size() == 3);
    DOCTEST_CHECK(labels[0].name == "ctcf_plus");
    DOCTEST_CHECK(labels[1].name == "ctcf_minus");
    DOCTEST_CHECK(labels.on_other_strand(0) == 1);
    DOCTEST_CHECK(labels.on_other_strand(2) == 2);
    std::array<double, 3> sums{};
    for (std::int64_t row = 0; row < set.size(); ++row)
        for (std::size_t track = 0; track < sums.size(); ++track)
            sums[track] += set.numbers(row)[track];
    DOCTEST_CHECK(sums[0] + sums[1] == 264 + 16 + 16);
    DOCTEST_CHECK(sums[2] == 2 * 264);
    const Json tracks = set.manifest()["parameters"]["tracks"];
    DOCTEST_CHECK(tracks[0]["assay"] == "chip");
    DOCTEST_CHECK(tracks[0]["files"][0]["min_mapq"] == 0);
    DOCTEST_CHECK(tracks[0]["files"][0]["reads"]["secondary"] == 4);
    DOCTEST_CHECK(tracks[2]["files"].size() == 2);
    DOCTEST_CHECK(tracks[2]["files"][1]["reads"] == tracks[2]["files"][0]["reads"]);
    DOCTEST_CHECK(!tracks[2]["files"][0].contains("shift"));
    const auto refused = [&](const std::string& columns, const std::string& values) {
        return failure("x.bed", "a\t0\t100\n", "name\tpath\t" + columns + "\nt\tx.bed\t" + values + "\n");
    };
    DOCTEST_CHECK(
        testing::holds(refused("min_mapq", "300"), "sheet.tsv:2: has another min_mapq than 0 to 255"));
    DOCTEST_CHECK(testing::holds(refused("keep_duplicates", "maybe"), "is yes or no, not 'maybe'"));
    DOCTEST_CHECK(
        testing::holds(refused("assay", "hic"), "column assay is none, atac, dnase, chip or coverage"));
    DOCTEST_CHECK(
        testing::holds(refused("assay\tcount", "atac\tfragments"), "has both an assay and a count"));
}

DOCTEST_TEST_CASE("tracks: the shift that is found is in the manifest") {
    const TempDir folder;
    TrackOptions options = yeast({test_data("tracks/yeast.bedpe.gz")});
    options.reading.assay = Assay::atac;
    const ExampleSet found = built(options, folder / "found");
    const Json file = found.manifest()["parameters"]["tracks"][0]["files"][0];
    DOCTEST_CHECK(file["shift"] == Json({4, -4}));
    DOCTEST_CHECK(file["shift_is"] == "found");
    options.reading.parse_shift("4,-4");
    const ExampleSet given = built(options, folder / "given");
    DOCTEST_CHECK(given.manifest()["parameters"]["tracks"][0]["files"][0]["shift_is"] == "given");
    for (std::int64_t row = 0; row < given.size(); ++row)
        DOCTEST_REQUIRE(given.numbers(row)[0] == found.numbers(row)[0]);
}
