// SPDX-License-Identifier: Apache-2.0
// finetune-* and predict-* as programs: exit code, standard output, the error's sentence, and no output left
// behind.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tiny_task.hpp"

#include <algorithm>

using namespace bigbird::testing;

namespace {

/// A genome of one contig of 2,000 bases, a chromatin model with two labels, and a BED file.
class ScoredModel : public TestFolder {
public:
    ScoredModel() {
        write_file(folder_ / "genome.fa", ">c\n" + random_dna(2000, 1) + "\n");
        bigbird::tasks::TaskInfo info;
        info.window = {-100, 100};
        write_tiny_task_model(folder_ / "model", info, 2, 1);
        write_file(folder_ / "rows.bed", "c\t100\t200\ta\nc\t1500\t1501\tb\n");
    }
    ProgramResult predict(const std::string& bed, const std::vector<std::string>& more = {},
                          const std::string& input = {}) const {
        auto words =
            joined(words_of("predict-chromatin --device cpu --threads 1"),
                   {"--model", folder_ / "model", "--reference", folder_ / "genome.fa", "--regions", bed});
        if (std::find(more.begin(), more.end(), "--output") == more.end())
            words.insert(words.end(), {"--output", folder_ / "scores.tsv"});
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words, input);
    }
};

std::int64_t lines_without_comments(const std::string& text) {
    std::int64_t lines = 0;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        lines += text.compare(begin, 2, "##") != 0 ? 1 : 0;
        begin = end + 1;
    }
    return lines;
}

}  // namespace

DOCTEST_TEST_CASE("scoring: predict-chromatin reads standard input and writes standard output") {
    const ScoredModel fixture;
    const auto result =
        succeeded(fixture.predict("-", {"--output", "-", "--quiet"}, "c\t100\t200\ta\nc\t1500\t1501\tb\n"));
    DOCTEST_CHECK(result.err.empty());
    DOCTEST_CHECK(holds(result.out,
                        "\n#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tlabel0\tlabel1\n"
                        "c\t100\t200\ta\t.\t.\tok\t0\t0."));
    DOCTEST_CHECK(lines_without_comments(result.out) == 3);
    const auto file = succeeded(fixture.predict(fixture / "rows.bed"));
    DOCTEST_CHECK(file.out.empty());
    DOCTEST_CHECK(read_file(fixture / "scores.tsv") == result.out);
}

DOCTEST_TEST_CASE("scoring: an empty BED is no error") {
    const ScoredModel fixture;
    write_file(fixture / "empty.bed", "");
    const auto result = succeeded(fixture.predict(fixture / "empty.bed"));
    DOCTEST_CHECK(holds(result.err, "empty.bed"));
    DOCTEST_CHECK(lines_without_comments(read_file(fixture / "scores.tsv")) == 1);
}

DOCTEST_TEST_CASE("scoring: rows that do not lie on the reference end it, with file and line") {
    const ScoredModel fixture;
    const auto check = [&](const std::string& bed, const std::string& place) {
        write_file(fixture / "bad.bed", bed);
        const auto result = fixture.predict(fixture / "bad.bed");
        DOCTEST_CHECK(result.out.empty());
        check_said(result, 3, "bigbird-dna: error: " + (fixture / "bad.bed") + place);
        DOCTEST_CHECK_FALSE(fixture.has("scores.tsv"));
    };
    check("d\t1\t2\nc\t1\tx\n", ":2: ");
    check("d\t1\t2\nc\t1999\t2001\n",
          ":1: 2 of 2 regions do not fit the reference (1 on contigs that the reference lacks (d), 1 past a "
          "contig's end (c has 2000 bases)): are both of one assembly? --skip-invalid leaves such rows out");
    check("c\t2\t1\n", ":1: ");
    check("c\tx\t1\n", ":1: ");
    write_file(fixture / "bad.bed", "d\t1\t2\nc\t1999\t2001\nc\t1\t2\n");
    const auto result =
        succeeded(fixture.predict(fixture / "bad.bed", {"--skip-invalid", "--output", "-", "--quiet"}));
    check_holds(result.out, {"d\t1\t2\t.\t.\t.\tno_contig\tNA\tNA\tNA\n",
                             "c\t1999\t2001\t.\t.\t.\tbad_interval\tNA\tNA\tNA\n"});
    // the rule of training: c, half of the contigs or more, is named, so the FASTA may be a part of a genome
    const auto few = succeeded(fixture.predict(fixture / "bad.bed", {"--output", fixture / "few.tsv"}));
    check_holds(few.err, {"bad.bed: 1 of 3 rows are no_contig (d) and have no scores",
                          "bad.bed: 1 of 3 rows are bad_interval (c has 2000 bases) and have no scores"});
    const auto lines = [](const std::string& path) {
        const std::string text = read_file(path);
        return text.substr(text.find("#chrom"));
    };
    DOCTEST_CHECK(result.out.ends_with(lines(fixture / "few.tsv")));
}

DOCTEST_TEST_CASE("scoring: regions as samtools writes them, instead of a BED") {
    const ScoredModel fixture;
    const auto scores = [&](const std::vector<std::string>& regions) {
        std::vector<std::string> words{"--output", "-", "--quiet"};
        if (regions.size() > 1) words.emplace_back("--regions");  // again
        words.insert(words.end(), regions.begin() + 1, regions.end());
        return fixture.predict(regions.front(), words);
    };
    write_file(fixture / "same.bed", "c\t100\t300\nc\t1200\t1400\nc\t0\t2000\n");
    const auto of_bed = succeeded(fixture.predict(fixture / "same.bed", {"--output", "-", "--quiet"}));
    const auto rows_of = [](const std::string& text) { return text.substr(text.find("#chrom")); };
    DOCTEST_CHECK(rows_of(succeeded(scores({"c:101-300", "c:1,201-1,400", "c"})).out) == rows_of(of_bed.out));
    check_error(scores({"d:1-20"}), 2,
                "--regions 'd:1-20' is neither a contig or region of the reference nor a BED file");
    check_error(scores({"c:3000-4000"}), 2,
                "--regions 'c:3000-4000' is past the end of contig 'c', which has 2000 bases");
    check_said(scores({"c:1-20", fixture / "same.bed"}), 2,
               "--regions takes one BED file or several regions, not '");
}

DOCTEST_TEST_CASE("scoring: inputs that are missing or damaged") {
    const ScoredModel fixture;
    check_error(fixture.predict(fixture / "absent.bed"), 3, (fixture / "absent.bed") + ": no such file");

    const std::string weights = read_file(fixture / "model/model.safetensors");
    write_file(fixture / "model/model.safetensors", weights.substr(0, weights.size() / 2));
    check_said(fixture.predict(fixture / "rows.bed"), 3,
               "bigbird-dna: error: " + (fixture / "model/model.safetensors") + ": ");
    write_file(fixture / "model/model.safetensors", weights);

    // a model for one vocabulary with the tokenizer of another
    std::string config = read_file(fixture / "model/config.json");
    const std::string size = "\"vocab_size\": 512";
    DOCTEST_REQUIRE(holds(config, size));
    config.replace(config.find(size), size.size(), "\"vocab_size\": 300");
    write_file(fixture / "model/config.json", config);
    check_said(fixture.predict(fixture / "rows.bed"), 3, "tokenizer");
    DOCTEST_CHECK_FALSE(fixture.has("scores.tsv"));
}

DOCTEST_TEST_CASE("scoring: outputs that are refused") {
    const ScoredModel fixture;
    write_file(fixture / "scores.tsv", "mine\n");
    check_error(
        fixture.predict(fixture / "rows.bed"), 2,
        (fixture / "scores.tsv") + ": exists already; give another --output, or --force to replace it");
    DOCTEST_CHECK(read_file(fixture / "scores.tsv") == "mine\n");
    check_said(fixture.predict(fixture / "rows.bed", {"--output", fixture / "scores.parquet"}), 2,
               "scores.parquet: the ending tells the format of scores: .tsv, .tsv.gz");
    write_file(fixture / "file", "");
    check_said(fixture.predict(fixture / "rows.bed", {"--output", fixture / "file/scores.tsv"}), 2,
               "cannot be made");
}

DOCTEST_TEST_CASE("scoring: wrong command lines") {
    const ScoredModel fixture;
    check_error(run_program({"predict-chromatin", "--model", fixture / "model", "--output", "-"}), 2,
                "--regions with --reference, --sequences or --examples is needed");
    check_said(run_program({"predict-promoter", "--model", "m", "--regions", "x.bed", "--output", "-"}), 2,
               "--reference");
    check_said(run_program({"predict-promoter", "--model", fixture / "model", "--regions",
                            fixture / "rows.bed", "--reference", fixture / "genome.fa", "--output", "-"}),
               3, "is a chromatin model; use predict-chromatin");
}

DOCTEST_TEST_CASE("scoring: finetune-chromatin makes a model that predict-chromatin takes") {
    const ScoredModel fixture;
    write_tiny_pretrained(fixture / "pretrained", 1);
    write_motif_examples(fixture / "examples", 60, 3);
    const auto words = joined(
        words_of("finetune-chromatin --steps 3 --batch-size 8 --device cpu --threads 1"),
        {"--examples", fixture / "examples", "--model", fixture / "pretrained", "--output", fixture / "run"});
    const auto first = works(words);
    DOCTEST_CHECK(first.out.empty());
    const auto again = works(words);
    DOCTEST_CHECK(holds(again.err, "this run is finished already"));
    const auto scores = works({"predict-chromatin", "--model", fixture / "run", "--examples",
                               fixture / "examples", "--split", "test", "--output", "-", "--quiet"});
    DOCTEST_CHECK(lines_without_comments(scores.out) == 16);
    check_error(run_program({"finetune-promoter", "--examples", fixture / "examples", "--model",
                             fixture / "pretrained", "--output", fixture / "other"}),
                3, (fixture / "examples") + ": holds chromatin examples; use finetune-chromatin");
    DOCTEST_CHECK_FALSE(fixture.has("other"));
}

DOCTEST_TEST_CASE("scoring: all formats at once, and none where the input is wrong") {
    const ScoredModel fixture;
    const std::vector<std::string> outputs{"--output",    fixture / "s.tsv.gz",
                                           "--output",    fixture / "s.npy",
                                           "--output",    fixture / "s.h5",
                                           "--output",    fixture / "s.long.tsv",
                                           "--output",    fixture / "{label}/{label}.bw",
                                           "--output",    fixture / "one.bedgraph",
                                           "--min-score", "0",
                                           "--labels",    "label1"};
    write_file(fixture / "bad.bed", "c\t1\t2\nd\t1\tx\n");
    DOCTEST_CHECK(fixture.predict(fixture / "bad.bed", outputs).code == 3);
    const std::vector<std::string> files{"s.tsv.gz", "s.npy",      "s.rows.tsv",       "s.labels.tsv",
                                         "s.h5",     "s.long.tsv", "label1/label1.bw", "one.bedgraph"};
    for (const std::string& file : files)
        DOCTEST_CHECK_FALSE(fixture.has(file));
    succeeded(fixture.predict(fixture / "rows.bed", outputs));
    for (const std::string& file : files) {
        DOCTEST_CAPTURE(file);
        DOCTEST_CHECK(fixture.has(file));
    }
    check_said(fixture.predict(fixture / "rows.bed", {"--output", fixture / "t.long.tsv"}), 2,
               "t.long.tsv: a .long.tsv needs --min-score");
}

DOCTEST_TEST_CASE("scoring: entries of no base, of one, longer than the window and overlapping are scored") {
    const ScoredModel fixture;
    const auto result = succeeded(
        fixture.predict("-", {"--output", "-", "--quiet"},
                        "c\t1500\t1500\nc\t1499\t1500\nc\t0\t2000\nc\t10\t20\nc\t10\t900\nc\t1999\t2000\n"));
    DOCTEST_CHECK(lines_without_comments(result.out) == 7);
    DOCTEST_CHECK(!holds(result.out, "NA"));
    DOCTEST_CHECK(holds(result.out, "c\t10\t20\t.\t.\t.\tpadded"));
    const auto tiled = fixture.predict("-", {"--output", "-", "--quiet", "--tile", "500"}, "c\t0\t2000\n");
    DOCTEST_CHECK(lines_without_comments(tiled.out) == 5);
    const auto pool = fixture.predict("-", {"--output", "-", "--pool", "mean"}, "c\t0\t2000\n");
    DOCTEST_CHECK(pool.code == 2);
    DOCTEST_CHECK(
        holds(pool.err, "--pool mean needs tiles for a model that scores one window per row: give --tile"));
    check_said(fixture.predict("-", {"--output", "-", "--tile", "500", "--anchor", "summit"}, "c\t0\t2000\n"),
               2, "--anchor summit is of whole rows");
}

DOCTEST_TEST_CASE("scoring: another build of the genome is said") {
    const ScoredModel fixture;
    write_file(fixture / "other.fa", ">c\n" + random_dna(2500, 1) + "\n");
    bigbird::tasks::TaskInfo info;
    info.window = {-100, 100};
    info.contigs = {{"c", 2000}};
    write_tiny_task_model(fixture / "built", info, 2, 1);
    const auto result =
        works({"predict-chromatin", "--model", fixture / "built", "--reference", fixture / "other.fa",
               "--regions", fixture / "rows.bed", "--device", "cpu", "--output", "-"});
    DOCTEST_CHECK(holds(result.err, "contig c has 2500 bases in --reference, but 2000"));
}
