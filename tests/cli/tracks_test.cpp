// SPDX-License-Identifier: Apache-2.0
// Coverage as a shell sees it: build-tracks, finetune, predict, evaluate.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include "bigbird/core/formats/json_file.hpp"

using namespace bigbird;
using namespace bigbird::testing;

namespace {

/// Bins of the yeast's contigs I and VI, of which VI is held out.
struct Yeast {
    TempDir folder;
    std::string examples = (folder / "examples").string();

    ProgramResult build(const std::vector<std::string>& more = {}) const {
        return run_program(
            joined({"build-tracks", "--signal", test_data("tracks/tracks.tsv"), "--reference", reference(),
                    "--bin", "200", "--include", "I", "VI", "--validation", "VI", "--output", examples},
                   more));
    }
    static std::string reference() { return test_data("genome/yeast.fa.gz").string(); }
};

}  // namespace

DOCTEST_TEST_CASE("tracks: from fragments and a bigWig to a model, its tracks and its figures") {
    const Yeast yeast;
    const ProgramResult built = succeeded(yeast.build());
    DOCTEST_CHECK(
        holds(built.err, "2 tracks of 2501 bins of 200 bp: 1151 for training, 1350 for validation"));
    const std::string network = yeast.folder / "network", ridge = yeast.folder / "ridge";
    works({"finetune", "--examples", yeast.examples, "--output", network, "--steps", "12", "--batch-size",
           "4", "--device", "cpu", "--loss", "poisson-multinomial"});
    works({"finetune", "--examples", yeast.examples, "--architecture", "kmer-ridge", "--output", ridge});
    auto evaluate = joined(words_of("evaluate --split validation"),
                           {"--examples", yeast.examples, "--output", yeast.folder / "figures.json",
                            "--output", yeast.folder / "page.html"});
    for (const std::string& model : {ridge, network}) {
        works({"predict", "--model", model, "--examples", yeast.examples, "--split", "validation", "--output",
               model + ".tsv", "--device", "cpu"});
        evaluate.insert(evaluate.end(), {"--scores", model + ".tsv"});
    }
    DOCTEST_CHECK(
        holds(works(evaluate).err, "no intervals, which need 5 blocks: only 3 blocks of 100000 bp"));
    const Json figures = read_json(yeast.folder / "figures.json");
    DOCTEST_CHECK(figures["rows"] == 1350);
    DOCTEST_CHECK(figures["parameters"]["resampled"] == "blocks of genome");
    DOCTEST_CHECK(figures["parameters"]["block_size"] == 100'000);
    DOCTEST_CHECK(figures["pearson"].get<double>() > 0.2);
    DOCTEST_CHECK(figures["numbers"].size() == 2);
    for (const char* name :
         {"spearman", "r2_log1p", "deviance", "pearson_units", "spearman_units", "pearson_across"})
        DOCTEST_CHECK(figures[name].is_number());
    DOCTEST_CHECK(figures["others"][0]["name"] == "network");
    const std::string page = read_file(yeast.folder / "page.html");
    DOCTEST_CHECK(holds(page, "<title>Evaluation: coverage"));
    for (const char* track :
         {">coverage, measured, 0 to ", ">coverage, ridge, 0 to ", ">coverage, network, 0 to "})
        DOCTEST_CHECK(holds(page, track));
    // Values of other regions, in the units of the input, none below 0.
    write_file(yeast.folder / "regions.bed", "I\t1000\t3000\nVI\t5100\t5900\n");
    works({"predict", "--model", network, "--reference", Yeast::reference(), "--regions",
           yeast.folder / "regions.bed", "--tile", "100", "--output", yeast.folder / "{label}.bedgraph",
           "--device", "cpu"});
    // Every base of 20, its own letter 0, others with an effect.
    write_file(yeast.folder / "site.bed", "I\t1000\t1020\n");
    works({"predict-mutagenesis", "--model", network, "--reference", Yeast::reference(), "--regions",
           yeast.folder / "site.bed", "--output", yeast.folder / "effects.tsv", "--device", "cpu"});
    const std::string effects = read_file(yeast.folder / "effects.tsv");
    DOCTEST_CHECK(holds(effects, "I\t1019\t1020"));
    DOCTEST_CHECK(!holds(effects, "NA"));
    const std::string track = read_file(yeast.folder / "coverage.bedgraph");
    DOCTEST_CHECK(holds(track, "VI\t5100\t"));
    DOCTEST_CHECK(track.find('-') == std::string::npos);
}

DOCTEST_TEST_CASE(
    "tracks: profiles of single bases, from a bin model's trunk to values, figures and effects") {
    const Yeast yeast;
    const auto file = [&](const char* name) { return (yeast.folder / name).string(); };
    const std::string signal = test_data("tracks/yeast.bedpe.gz");
    works({"build-tracks", "--signal", signal, "--reference", Yeast::reference(), "--bin", "50", "--include",
           "I:1-100000", "--output", file("bins"), "--validation", "I:80001-100000"});
    works({"build-tracks", "--signal", signal, "--reference", Yeast::reference(), "--bin", "1", "--include",
           "I:1-60000", "--output", yeast.examples, "--validation", "I:40001-60000"});
    works({"finetune", "--examples", file("bins"), "--output", file("first"), "--steps", "2", "--batch-size",
           "2", "--device", "cpu"});
    works({"finetune", "--examples", yeast.examples, "--model", file("first"), "--output", file("whole"),
           "--steps", "4", "--batch-size", "2", "--device", "cpu"});
    works({"predict", "--model", file("whole"), "--examples", yeast.examples, "--split", "validation",
           "--output", file("scores.tsv"), "--device", "cpu"});
    works({"evaluate", "--examples", yeast.examples, "--split", "validation", "--scores", file("scores.tsv"),
           "--output", file("figures.json")});
    const Json figures = read_json(yeast.folder / "figures.json");
    DOCTEST_CHECK(figures["rows"] == 20000);
    DOCTEST_CHECK(figures["profile_jsd"].get<double>() < 1);
    DOCTEST_CHECK(figures["profile_jsd_flat"].is_number());
    write_file(yeast.folder / "region.bed", "I\t41000\t41003\n");
    works({"predict", "--model", file("whole"), "--reference", Yeast::reference(), "--regions",
           file("region.bed"), "--tile", "1", "--output", file("tiles.bedgraph"), "--device", "cpu"});
    DOCTEST_CHECK(holds(read_file(yeast.folder / "tiles.bedgraph"), "I\t41002\t41003\t"));
    works({"predict-mutagenesis", "--model", file("whole"), "--reference", Yeast::reference(), "--regions",
           file("region.bed"), "--output", file("effects.tsv"), "--device", "cpu"});
    works({"attribute", "--model", file("whole"), "--reference", Yeast::reference(), "--regions",
           file("region.bed"), "--method", "deeplift", "--output", file("letters.tsv"), "--device", "cpu"});
    works({"embed", "--model", file("whole"), "--reference", Yeast::reference(), "--regions",
           file("region.bed"), "--output", file("vectors.npy"), "--device", "cpu"});
    // Motifs are at most as long as a bin.
    for (const char* bin : {"9", "16"}) {
        works({"build-tracks", "--signal", signal, "--reference", Yeast::reference(), "--bin", bin,
               "--include", "I:1-30000", "--validation", "I:20001-30000", "--output", file("short"),
               "--force"});
        works({"finetune", "--examples", file("short"), "--output", file("short-run"), "--steps", "1",
               "--batch-size", "1", "--device", "cpu", "--force"});
    }
    const ProgramResult short_bins = run_program({"train", "--signal", signal, "--reference",
                                                  Yeast::reference(), "--bin", "1", "--output", file("t")});
    DOCTEST_CHECK(holds(short_bins.err,
                        "train takes a --bin of 16 or more; for profiles at single bases give --peaks "
                        "instead, such as"));
}

DOCTEST_TEST_CASE("tracks: what is wrong is said") {
    const Yeast yeast;
    const ProgramResult shift = yeast.build({"--shift", "4"});
    DOCTEST_CHECK(shift.code != 0);
    DOCTEST_CHECK(holds(shift.err, "--shift takes two numbers of bases, such as 4,-4, not '4'"));
    succeeded(yeast.build());
    const ProgramResult other = run_program({"finetune", "--examples", yeast.examples, "--architecture",
                                             "deepsea", "--output", yeast.folder / "run"});
    DOCTEST_CHECK(other.code != 0);
    DOCTEST_CHECK(holds(other.err, "for coverage there are bigbird-bins and kmer-ridge"));
    const ProgramResult taught =
        run_program({"finetune", "--examples", yeast.examples, "--teacher", yeast.examples + "/targets.npy",
                     "--output", yeast.folder / "run"});
    DOCTEST_CHECK(taught.code != 0);
    DOCTEST_CHECK(holds(taught.err, "--teacher is for labels, these examples have coverage"));
    const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
        check_error(run_program(joined({"finetune-chromatin", "--examples", yeast.examples, "--output",
                                        yeast.folder / "run"},
                                       words)),
                    2, sentence);
    };
    refused({"--positive-weight", "2"},
            "--positive-weight has no effect with examples of coverage: it is for peaks, labels and classes");
    refused({"--architecture", "kmer-ridge", "--window=-50:50"},
            "--window has no effect with examples of coverage: it is for peaks");
    refused(
        {"--architecture", "kmer-ridge", "--kmer-length", "5:3"},
        "--kmer-length has no effect with examples of coverage: it is for peaks as N:K, for coverage as N");
}

DOCTEST_TEST_CASE("tracks: reads, and what is wrong with them") {
    const Yeast yeast;
    const std::vector<std::string> where{
        "--reference", Yeast::reference(), "--bin", "200",      "--include",    "I",
        "VI",          "--validation",     "VI",    "--output", yeast.examples, "--force"};
    const auto build = [&](const std::vector<std::string>& words) {
        return run_program(joined(joined({"build-tracks"}, words), where));
    };
    for (const char* name : {"tracks/reads.bam", "tracks/reads.cram"}) {
        const ProgramResult built =
            succeeded(build({"--signal", test_data(name), "--assay", "atac", "--min-mapq", "0"}));
        DOCTEST_CHECK(holds(built.err, "280 of 352 reads count"));
        DOCTEST_CHECK(holds(built.err, "warning"));
        DOCTEST_CHECK(holds(built.err, "the shift of its ends is unclear"));
    }
    const std::string text = yeast.folder / "text.bam", usage = "; see 'bigbird-dna build-tracks --help'";
    write_file(text, "@HD\tVN:1.6\n@SQ\tSN:I\tLN:230218\n");
    check_error(build({"--signal", text}), 3,
                text + ": is SAM, which is text: make a BAM of it by 'samtools view -b'");
    const std::string bam = test_data("tracks/reads.bam");
    check_error(build({"--signal", bam, "--min-mapq", "300"}), 2,
                "--min-mapq: Value 300 not in range 0 to 255" + usage);
    check_error(build({"--signal", bam, "--assay", "chip", "--count", "ends"}), 2,
                "--assay excludes --count" + usage);
    check_error(build({"--signal", bam, "--negatives", "gc:1"}), 2, "--negatives requires --peaks" + usage);
    write_file(yeast.folder / "peaks.bed", "I\t50000\t50400\nVI\t60000\t60200\n");
    const std::vector<std::string> peaks{"--signal", bam, "--peaks", yeast.folder / "peaks.bed"};
    check_error(build(joined(peaks, {"--negatives", "1"})), 2,
                "--negatives of coverage takes gc:RATIO, such as gc:1");
    check_error(build(joined(peaks, {"--negatives", "gc:x"})), 2,
                "--negatives takes a ratio of 0 or more, such as 1 or gc:1, not 'gc:x'");
}
