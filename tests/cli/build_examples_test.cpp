// SPDX-License-Identifier: Apache-2.0
// build-promoters, build-chromatin and build-sequences as a shell sees them.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>

using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

const std::string reference = test_data("genome/22.fa.gz");

std::vector<std::string> promoters(const fs::path& tss, const fs::path& output) {
    return {"build-promoters", "--tss", tss.string(), "--reference", reference, "--output", output.string()};
}

std::vector<std::string> chromatin(const fs::path& peaks, const fs::path& output) {
    return {"build-chromatin", "--peaks",  peaks.string(), "--reference",
            reference,         "--output", output.string()};
}

/// The command fails with this code and sentence, and writes nothing to standard output or beside --output.
void check_fails(const std::vector<std::string>& arguments, int code, const std::string& sentence) {
    const fs::path output = *std::next(std::ranges::find(arguments, "--output"));
    const auto files = [&] { return std::distance(fs::directory_iterator(output.parent_path()), {}); };
    const auto before = files();
    const auto result = run_program(arguments);
    DOCTEST_CHECK(result.out.empty());
    check_said(result, code, "bigbird-dna: error: " + sentence + "\n");
    DOCTEST_CHECK(files() == before);
}

}  // namespace

DOCTEST_TEST_CASE("build-promoters: lifts, labels and says what it did") {
    const TempDir folder;
    const auto result = works(joined(promoters(test_data("promoter/tss.hg38.bed.gz"), folder / "p"),
                                     {"--chain", test_data("promoter/hg38ToHg19.chr22.chain.gz"), "--window",
                                      "-249:51", "--test", "chr22:21000001-22000000"}));
    DOCTEST_CHECK(result.out.empty());
    check_holds(result.err,
                {"lifted 113 of 116, 3 unmapped\n",
                 "left out 5 of 113 TSSs: 5 past a contig's end (22 has 22000000 bases)\n",
                 "108 promoters and as many negatives (random-bases): 176 rows for training, 0 for "
                 "validation, 40 for test\n"});
    const std::string unmapped = read_file(folder / "p/unmapped.bed");
    DOCTEST_CHECK(std::count(unmapped.begin(), unmapped.end(), '\n') == 3);
    check_error(
        run_program(promoters(test_data("promoter/tss.hg19.bed"), folder / "p")), 2,
        (folder / "p").string() + ": exists already; give another --output, or --force to replace it");
}

DOCTEST_TEST_CASE("build-promoters: wrong inputs are one sentence and leave nothing") {
    const TempDir folder;
    const std::string t = folder / "t.bed";
    check_fails(promoters(folder / "none.bed", folder / "p"), 3,
                (folder / "none.bed").string() + ": no such file");
    write_file(t, "chr22\t17000000\t17000001\ta\t1\n");
    check_fails(promoters(t, folder / "p"), 3, t + ":1: a TSS needs its strand, + or -, in column 6");
    write_file(t, "chr1\t17000000\t17000001\ta\t1\t+\n");
    check_fails(
        promoters(t, folder / "p"), 3,
        t + ": none of its 1 TSSs is on the reference; give TSSs of the same assembly, or a --chain to it");
    write_file(t, "chr22\t17000000\t17000001\ta\t1\t+\n");
    check_fails(joined(promoters(t, folder / "p"), {"--window", "8000"}), 2,
                "'8000' is no window; write A:B with A < B, bases from the TSS, such as -5000:3000");
    check_fails(joined(promoters(t, folder / "p"), {"--window", "-5:5"}), 2,
                "--window -5:5 is too short: a negative is made of 20 pieces");
    check_fails(joined(promoters(t, folder / "p"), {"--test", "chrX"}), 2,
                "--test 'chrX' is neither a contig or region of the reference nor a BED file");
    write_file(folder / "c.chain", "chain 1 chr22 100 + 0 10 chr22 100 + 0 9 1\n10\n\n");
    check_said(run_program(joined(promoters(t, folder / "p"), {"--chain", folder / "c.chain"})), 3,
               (folder / "c.chain").string() + ":");
    DOCTEST_CHECK(!fs::exists(folder / "p"));
}

DOCTEST_TEST_CASE("build-chromatin: labels bins and says what it did") {
    const TempDir folder;
    const auto result =
        works(joined(chromatin(test_data("chromatin/peaks.tsv"), folder / "c"),
                     {"--test", "22:21000001-22000000", "--validation", "22:18000001-19000000"}));
    check_holds(result.err, {"read 8357 peaks of 109 labels\n", " bins of 200 bp: "});
    const std::string rows = read_file(folder / "c/sequences.bed");
    DOCTEST_CHECK(rows.starts_with("22\t16050000\t16050200\ttrain\n"));
    const std::string labels = read_file(folder / "c/labels.tsv");
    DOCTEST_CHECK(std::count(labels.begin(), labels.end(), '\n') == 110);
}

DOCTEST_TEST_CASE("build-chromatin: wrong inputs are one sentence and leave nothing") {
    const TempDir folder;
    const std::string p = folder / "p.bed";
    write_file(p, "chr22\tone\t2\n");
    check_fails(chromatin(p, folder / "c"), 3,
                p + ":1: start 'one' is not a number: BED has whole numbers, digits only");
    write_file(p, "");
    check_fails(chromatin(p, folder / "c"), 3, "--peaks holds no peaks: every file is empty");
    write_file(p, "chr21\t100\t900\nchr22\t30000000\t30001000\n");
    check_fails(
        chromatin(p, folder / "c"), 3,
        "none of the 2 peaks is on the reference (which has '22'); give peaks and reference of the same "
        "assembly");
    write_file(p, "name\tgroup\tpath\nCTCF\tTF\tmissing.bed\n");
    check_fails(chromatin(p, folder / "c"), 3,
                p + ":2: " + (folder / "missing.bed").string() + ": no such file");
    write_file(p, "chr22\t17000000\t17001000\n");
    check_fails(joined(chromatin(p, folder / "c"), {"--window", "100"}), 2,
                "--window must be at least as long as --bin, and --bin at least 1");
    check_fails(joined(chromatin(p, folder / "c"), {"--test", "22", "--validation", "22:1-1000"}), 2,
                "--validation and --test overlap at 22:0-1000; give regions that do not");
    check_said(run_program(chromatin(p, "/dev/null/c")), 2, "this output folder cannot be made");
}

DOCTEST_TEST_CASE("build-chromatin: --bins any keeps bins with a label") {
    const TempDir folder;
    write_file(folder / "g.fa", ">c\n" + std::string(6000, 'A') + "\n");
    write_file(folder / "p.bed", "c\t1000\t1400\n");
    const auto rows = [&](const std::vector<std::string>& more) {
        return works(
                   joined({"build-chromatin", "--peaks", folder / "p.bed", "--reference", folder / "g.fa",
                           "--test", "c:4001-6000", "--window", "1000", "--output", folder / "e", "--force"},
                          more))
            .err;
    };
    DOCTEST_CHECK(holds(rows({}), "16 for training"));
    DOCTEST_CHECK(holds(rows({"--bins", "all"}), "16 for training"));
    DOCTEST_CHECK(holds(rows({"--bins", "any"}), "2 bins of 200 bp: 2 for training"));
    DOCTEST_CHECK(holds(rows({"--bins", "any", "--negatives", "1"}), "4 bins of 200 bp: "));
    check_fails(joined(chromatin(folder / "p.bed", folder / "f"), {"--bins", "all", "--negatives", "1"}), 2,
                "--negatives excludes --bins all; see 'bigbird-dna build-chromatin --help'");
}

DOCTEST_TEST_CASE("build-chromatin: DeepSEA's .mat files and tables of labels, and what is wrong with them") {
    const TempDir folder;
    const std::string mat = test_data("chromatin/mat");
    const auto build = [&](std::vector<std::string> more) {
        return run_program(joined({"build-chromatin", "--output", folder / "e", "--force"}, more));
    };
    const auto good =
        succeeded(build({"--mat", "train=" + mat + "/train.mat", "validation=" + mat + "/valid.mat"}));
    DOCTEST_CHECK(holds(good.err, "13 bins: 9 for training, 4 for validation, 0 for test"));
    std::filesystem::remove_all(folder / "e");
    const auto check = [&](const std::vector<std::string>& more, int code, const std::string& sentence) {
        check_said(build(more), code, sentence);
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "e"));
    };
    check({"--mat", "test=" + mat + "/malformed/truncated_73.mat"}, 3, "truncated_73.mat: is");
    check({"--mat", "test=" + mat + "/malformed/truncated_5.mat"}, 3, "truncated_5.mat: ");
    check({"--mat", "test=" + mat + "/malformed/shape.mat"}, 3, "of another shape");
    check({"--mat", "train=" + mat + "/malformed/ends_hdf5.mat"}, 3, "ends_hdf5.mat: is damaged: ");
    std::string changed = read_file(mat + "/test.mat");
    changed[4188] = '\204';  // within what is compressed
    write_file(folder / "changed.mat", changed);
    check({"--mat", "test=" + (folder / "changed.mat").string()}, 3,
          "changed.mat: is damaged: a compressed array's length or checksum is wrong");
    check({"--mat", mat + "/train.mat"}, 2, "--mat takes SPLIT=FILE");
    check({"--mat", "train=" + mat + "/test.mat", "test=" + mat + "/../mat/test.mat"}, 2,
          "test.mat: is given to --mat as train and again as test; a file is one split");
    check({"--mat", "other=" + mat + "/train.mat"}, 2, "other");
    check({}, 2, "give either --peaks, --table or --mat");
    check({"--table", mat + "/bins.bed"}, 2, "--reference is needed");
    check({"--table", mat + "/bins.bed", "--reference", test_data("genome/22.fa.gz")}, 3,
          "bins.bed:1: begins with no header");
}

DOCTEST_TEST_CASE(
    "build-chromatin: peaks of another assembly are refused, those of the whole genome on a part are not") {
    const TempDir folder;
    std::string peaks, yeast;
    for (int contig = 1; contig <= 22; ++contig)
        for (int i = 0; i < 20; ++i)
            peaks += "chr" + std::to_string(contig) + "\t" + std::to_string(17'000'000 + 1000 * i) + "\t" +
                     std::to_string(17'000'400 + 1000 * i) + "\n";
    for (const char* contig : {"I", "II", "III", "IV", "V", "X"})
        yeast += ">" + std::string(contig) + "\n" + std::string(5000, 'A') + "\n";
    write_file(folder / "whole.bed", peaks);
    write_file(folder / "yeast.fa", yeast);
    const auto slice = works(chromatin(folder / "whole.bed", folder / "slice"));
    DOCTEST_CHECK(
        holds(slice.err, "warning: left out 420 of 440 peaks: 420 on contigs that the reference lacks"));
    write_file(folder / "x.bed", peaks + "chrX\t1000\t1400\n");
    std::vector<std::string> other = chromatin(folder / "x.bed", folder / "other");
    other[4] = (folder / "yeast.fa").string();
    check_said(run_program(other), 3, "none of the 441 peaks is on the reference");
    DOCTEST_CHECK_FALSE(fs::exists(folder / "other"));
    other.emplace_back("--skip-invalid");
    const auto nothing = run_program(other);  // a human's X is not a yeast's
    check_said(nothing, 3, "is on the reference");
    write_file(folder / "yeast.bed", "chrX\t1000\t1400\nchrII\t1000\t1400\n");
    other[2] = (folder / "yeast.bed").string();
    works(other);
}

DOCTEST_TEST_CASE("build-chromatin: a contig whose name looks like a region is held out by its name") {
    const TempDir folder;
    std::string fasta, peaks;
    for (const char* contig : {"HLA-A*01:01:01:01", "seq:1-100", "plain"}) {
        fasta += ">" + std::string(contig) + "\n" + std::string(5000, 'A') + "\n";
        peaks += std::string(contig) + "\t1000\t1400\n";
    }
    write_file(folder / "g.fa", fasta);
    write_file(folder / "p.bed", peaks);
    std::vector<std::string> arguments = chromatin(folder / "p.bed", folder / "examples");
    arguments[4] = (folder / "g.fa").string();
    works(
        joined(arguments, {"--window", "1000", "--test", "HLA-A*01:01:01:01", "--validation", "seq:1-100"}));
    const auto all_on = [&](const char* split, const std::string& contig) {
        std::istringstream rows(read_file(folder / "examples" / split));
        std::int64_t others = 0, here = 0;
        for (std::string row; std::getline(rows, row);)
            ++(row.starts_with(contig + "\t") ? here : others);
        return here > 0 && others == 0;
    };
    DOCTEST_CHECK(all_on("test.bed", "HLA-A*01:01:01:01"));
    DOCTEST_CHECK(all_on("validation.bed", "seq:1-100"));
}

DOCTEST_TEST_CASE("build-chromatin: names that are not UTF-8 are refused with file and line") {
    const TempDir folder;
    const std::string latin = "caf\xE9",
                      advice = "not UTF-8: convert the file, as 'iconv -f latin1 -t utf-8' does";
    write_file(folder / "p.bed", "22\t17000000\t17000400\n");
    write_file(folder / (latin + ".bed"), "22\t17000000\t17000400\n");
    write_file(folder / "named.bed", "22\t17000000\t17000400\n22\t17001000\t17001400\t" + latin + "\n");
    write_file(folder / "sheet.tsv", "name\tpath\nx\tp.bed\n" + latin + "\tp.bed\n");
    write_file(folder / "g.fa", ">22 d\xE9\nACGT\n>" + latin + "\nACGT\n");
    check_fails(chromatin(folder / "named.bed", folder / "e"), 3,
                (folder / "named.bed").string() + ":2: is " + advice);
    check_fails(chromatin(folder / "sheet.tsv", folder / "e"), 3,
                (folder / "sheet.tsv").string() + ":3: is " + advice);
    check_fails(chromatin(folder / (latin + ".bed"), folder / "e"), 2,
                "'" + (folder / (latin + ".bed")).string() +
                    "' is not UTF-8: rename the file, or link to it by another name");
    std::vector<std::string> fasta = chromatin(folder / "p.bed", folder / "e");
    fasta[4] = (folder / "g.fa").string();
    check_fails(fasta, 3, (folder / "g.fa").string() + ":3: has a contig whose name is " + advice);
}

DOCTEST_TEST_CASE("build-sequences: splits a table and says what it did") {
    const TempDir folder;
    const std::vector<std::string> arguments{"build-sequences",
                                             "--table",
                                             test_data("sequences/promoters.csv.gz"),
                                             "--split-by",
                                             "fraction:0.6,0.2,0.2",
                                             "--output",
                                             folder / "s"};
    const auto result = works(arguments);
    DOCTEST_CHECK(result.out.empty());
    for (const char* line :
         {"214 records: 128 for training, 44 for validation, 42 for test\n",
          "lengths: 300 to 300 bases, median 300\n", "letters: A 19.2 %, C 28.8 %, G 30.6 %, T 21.4 %\n",
          "train: 'other' 64 (50.0 %); 'promoter' 64 (50.0 %)\n"})
        DOCTEST_CHECK(holds(result.err, line));
    DOCTEST_CHECK(holds(result.err, "test: 0 of 42 rows occur in train, "));
    DOCTEST_CHECK(read_file(folder / "s/records.tsv")
                      .starts_with("#id\tsplit\tlength\tn_fraction\tgroup\tclass\n"
                                   "XKR3_2\t"));
    check_error(
        run_program(arguments), 2,
        (folder / "s").string() + ": exists already; give another --output, or --force to replace it");
}

DOCTEST_TEST_CASE("build-sequences: wrong inputs are one sentence and leave nothing") {
    const TempDir folder;
    const std::string table = folder / "t.csv";
    const std::vector<std::string> build{"build-sequences", "--output", folder / "s"};
    check_fails(joined(build, {"--table", table}), 3, table + ": no such file");
    write_file(table, "seq,label\nACGT,1\n");
    check_fails(joined(build, {"--table", table}), 3,
                table +
                    ":1: has no column 'sequence'; its columns are 'seq', 'label'; --sequence-column "
                    "names that of the sequences");
    check_fails(build, 2, "--table or --fasta is needed");
    check_fails(joined(build, {"--table", table, "--split-by", "half"}), 2,
                "--split-by is column:NAME, fraction:0.8,0.1,0.1 or similarity, not 'half'");
}
