// SPDX-License-Identifier: Apache-2.0
// predict-variants and embed as programs.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tiny_task.hpp"

#include <algorithm>

using namespace bigbird::testing;

namespace {

class ScoredVariants : public TestFolder {
public:
    ScoredVariants() {
        write_file(folder_ / "genome.fa", ">c\n" + random_dna(1000, 1) + "ACGT\n");
        bigbird::tasks::TaskInfo info;
        info.window = {-100, 100};
        write_tiny_task_model(folder_ / "model", info, 2, 1);
        write_tiny_pretrained(folder_ / "pretrained", 1);
        write_file(folder_ / "v.vcf",
                   "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
                   "chrc\t1001\ta\tA\tG,<DEL>\t.\t.\t.\nc\t1002\tb\tA\tG\t.\t.\t.\n");
    }
    ProgramResult variants(const std::vector<std::string>& more) const {
        return run_program(
            joined({"predict-variants", "--reference", *this / "genome.fa", "--device", "cpu"}, more));
    }
};

/// The lines of a VCF after the header.
std::string records_of(const std::string& vcf) {
    return vcf.substr(vcf.find('\n', vcf.find("#CHROM")) + 1);
}

}  // namespace

DOCTEST_TEST_CASE("variants: rows in order on standard output, what is wrong marked and counted") {
    const ScoredVariants fixture;
    const auto result = succeeded(
        fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--output", "-",
                          "--labels", "0", "--write", "difference,log-odds", "--skip-invalid"}));
    check_holds(result.out, {"\n#chrom\tpos\tid\tref\talt\tstatus\tn_fraction\ttop_label\ttop_effect\ttop_"
                             "p\tlabel0:difference\tlabel0:log_"
                             "odds\nchrc\t1001\ta\tA\tG\tpadded\t",
                             "\nchrc\t1001\ta\tA\t<DEL>\tsymbolic\tNA\t."
                             "\tNA\tNA\tNA\tNA\nc\t1002\tb\tA\tG\tref_mismatch\tNA\t.\tNA\tNA\tNA\tNA\n"});
    check_holds(result.err,
                {"v.vcf: 1 of 3 rows are ref_mismatch and have no scores", "1 of 3 alleles scored in ",
                 " s; their status says why the others have no scores\n"});
}

DOCTEST_TEST_CASE("variants: inputs that are no VCF end it and leave nothing") {
    const ScoredVariants fixture;
    const auto check = [&](const std::string& vcf, const std::string& sentence) {
        check_said(fixture.variants(
                       {"--model", fixture / "model", "--variants", vcf, "--output", fixture / "o.tsv"}),
                   3, sentence);
        DOCTEST_CHECK_FALSE(fixture.has("o.tsv"));
    };
    check(test_data("variants/malformed/bed.vcf"), "is no VCF or BCF");
    check(test_data("variants/malformed/truncated.vcf.gz"), "is truncated");
    check(test_data("variants/1000g.chr22.bcf"), "none of its contigs is in the reference");
    check(fixture / "absent.vcf", "absent.vcf: no such file");
}

DOCTEST_TEST_CASE(
    "variants: where more than a fifth does not fit the reference, it is refused and nothing written") {
    const ScoredVariants fixture;
    check_said(fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--labels",
                                 "0", "--output", fixture / "refused.tsv"}),
               3, "do not fit the reference");
    DOCTEST_CHECK_FALSE(std::filesystem::exists(fixture / "refused.tsv"));
}

DOCTEST_TEST_CASE("variants: a pretrained model needs no head, and takes no labels") {
    const ScoredVariants fixture;
    const auto result =
        succeeded(fixture.variants({"--model", fixture / "pretrained", "--variants", fixture / "v.vcf",
                                    "--window", "200", "--output", "-", "--quiet", "--skip-invalid"}));
    DOCTEST_CHECK(holds(
        result.out,
        "n_fraction\ttop_label\ttop_effect\ttop_p\tlog_likelihood_ref\tlog_likelihood_alt\tlog_odds\n"));
    check_said(fixture.variants({"--model", fixture / "pretrained", "--variants", fixture / "v.vcf",
                                 "--labels", "0", "--output", "-"}),
               2, "--labels needs a chromatin model");
    check_said(fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--output",
                                 fixture / "v.bw"}),
               2, "a track needs scores of places");
}

DOCTEST_TEST_CASE("variants: a VCF with effects in INFO, its index, and what is refused") {
    const ScoredVariants fixture;
    const std::vector<std::string> words{"--model",         fixture / "model", "--variants",
                                         fixture / "v.vcf", "--skip-invalid",  "--output"};
    const auto run = [&](const std::string& output, const std::vector<std::string>& more) {
        return fixture.variants(joined(joined(words, {output}), more));
    };
    succeeded(run(fixture / "e.vcf", {"--output", fixture / "e.vcf.gz"}));
    DOCTEST_CHECK(fixture.has("e.vcf.gz.tbi"));
    const std::string text = read_file(fixture / "e.vcf");
    check_holds(text, {"\n##bigbird-dna_model_sha256=", "\n##bigbird-dna_labels=the 10 of largest effect\n"});
    DOCTEST_CHECK_FALSE(holds(text, fixture / ""));
    check_holds(
        text,
        {"\nchrc\t1001\ta\tA\tG,<DEL>\t.\t.\tBIGBIRD=G|",
         "|.|.|padded,<DEL>|.|.|.|.|.|.|.|symbolic;BIGBIRD_MAX=",
         "\nc\t1002\tb\tA\tG\t.\t.\tBIGBIRD=G|.|.|.|.|.|.|.|ref_mismatch;BIGBIRD_MAX=.;BIGBIRD_TOP_LABEL=.;"
         "BIGBIRD_TOP_EFFECT=.;BIGBIRD_TOP_P=.\n"});
    DOCTEST_CHECK(run(fixture / "e.vcf.gz", {}).code == 2);
    write_file(fixture / "old.vcf",
               "##fileformat=VCFv4.2\n##INFO=<ID=BIGBIRD_MAX,Number=1,Type=String,Description=\"old\">\n"
               "##bigbird-dna_scorer=max\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
               "c\t1003\ta\tG\t.\t.\t.\tBIGBIRD_MAX=9.5;DP=3;BIGBIRD=7\n");
    const auto again = succeeded(fixture.variants({"--model", fixture / "model", "--variants",
                                                   fixture / "old.vcf", "--output", "-", "--format", "vcf"}));
    DOCTEST_CHECK(records_of(again.out) == "c\t1003\ta\tG\t.\t.\t.\tDP=3;BIGBIRD=.|.|.|.|.|.|.|.|no_alt\n");
    for (const char* old : {"\"old\"", "scorer"})
        DOCTEST_CHECK_FALSE(holds(again.out, old));
    const auto bcf = run(fixture / "e.bcf", {});
    check_said(bcf, 3, "has a contig or field that the header lacks, which BCF cannot hold");
    DOCTEST_CHECK_FALSE(fixture.has("e.bcf"));
    DOCTEST_CHECK(run(fixture / "v.vcf", {"--force"}).code == 2);
    check_said(run_program({"embed", "--model", fixture / "model", "--sequences", fixture / "genome.fa",
                            "--output", fixture / "e2.vcf"}),
               2, "only predict-variants writes VCF and BCF");
}

DOCTEST_TEST_CASE("variants: VCF on standard output is the file's, and a reader of the stream takes it") {
    const ScoredVariants fixture;
    const std::vector<std::string> words{
        "--model", fixture / "model", "--skip-invalid", "--output", "-", "--format", "vcf"};
    const auto run = [&](const std::string& variants, const std::vector<std::string>& more) {
        return fixture.variants(joined(joined(words, {"--variants", variants}), more));
    };
    const auto streamed =
        succeeded(run(fixture / "v.vcf", {"--output", fixture / "e.vcf", "--output", fixture / "e.tsv"}));
    DOCTEST_CHECK(streamed.out == read_file(fixture / "e.vcf"));
    DOCTEST_CHECK(holds(read_file(fixture / "e.tsv"), "\nchrc\t1001\ta\tA\tG\tpadded\t"));
    write_file(fixture / "stream.vcf", streamed.out);
    const auto again = succeeded(run(fixture / "stream.vcf", {}));
    DOCTEST_CHECK(records_of(again.out) == records_of(streamed.out));
    DOCTEST_CHECK(std::ranges::count(records_of(again.out), '\n') == 2);
    check_said(fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--format",
                                 "vcf", "--output", fixture / "f.vcf"}),
               2, "--format is of --output -: the ending of a file tells its format");
    check_said(run(fixture / "v.vcf", {"--shard", "1/2"}), 2, "--shard writes a file");
}

DOCTEST_TEST_CASE(
    "variants: more than 1,000 labels in INFO are warned of, and without --labels there are 10") {
    const ScoredVariants fixture;
    bigbird::tasks::TaskInfo info;
    info.window = {-100, 100};
    write_tiny_task_model(fixture / "wide", info, 1001, 1);
    const auto run = [&](const std::vector<std::string>& more) {
        return fixture.variants(joined({"--model", fixture / "wide", "--variants", fixture / "v.vcf",
                                        "--skip-invalid", "--output", "-", "--format", "vcf"},
                                       more));
    };
    const std::string entries = "entries in INFO, one per label";
    const auto all = succeeded(run({"--labels", "0-1000"}));
    DOCTEST_CHECK(holds(all.err,
                        "warning: each allele gets 1001 entries in INFO, one per label; for those with the "
                        "largest effects only, leave out --labels"));
    DOCTEST_CHECK(std::ranges::count(records_of(all.out), '|') == 8 * 1003);
    const auto fewer = succeeded(run({"--labels", "0-999"}));
    DOCTEST_CHECK_FALSE(holds(fewer.err, entries));
    const auto top = run({});
    DOCTEST_CHECK_FALSE(holds(top.err, entries));
    DOCTEST_CHECK(std::ranges::count(records_of(top.out), '|') == 8 * 12);
}

DOCTEST_TEST_CASE("variants: --dry-run says what it takes and writes nothing, scorers need bins") {
    const ScoredVariants fixture;
    const std::vector<std::string> words{"--model", fixture / "model", "--variants", fixture / "v.vcf"};
    const auto run = [&](const std::vector<std::string>& more) {
        return fixture.variants(joined(words, more));
    };
    const auto dry = succeeded(run({"--dry-run"}));
    check_holds(dry.out,
                {"alleles           3 (33 % of 3 tried have scores)\nseconds", "ms per allele)\nmemory"});
    check_said(run({}), 2, "--output is needed, or --dry-run");
    const auto scorer = run({"--scorer", "max:3", "--output", "-"});
    DOCTEST_CHECK(scorer.code == 2);
    DOCTEST_CHECK(
        holds(scorer.err, "--scorer max is for models that score bins; this one gives one score per window"));
    DOCTEST_CHECK(holds(run({"--scorer", "max:x", "--output", "-"}).err, "does not end in a number"));
    DOCTEST_CHECK(holds(run({"--scorer", "most", "--output", "-"}).err, "--scorer is centre, max, mean"));
}

DOCTEST_TEST_CASE(
    "variants: the bundled model's effects and scores are the same bytes on any number of threads") {
    const TestFolder folder;
    const std::string model = test_data("models/chromatin-grch37"), genome = test_data("genome/22.fa.gz");
    std::string vcf = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
    const std::vector<std::pair<int, char>> bases{{17000000, 'C'}, {17000300, 'C'}, {17012800, 'T'},
                                                  {17025600, 'A'}, {17038400, 'G'}, {17038500, 'C'}};
    for (const auto& [at, base] : bases)
        for (const std::string& alt : {std::string(base == 'C' ? "G" : "C"), base + std::string("GA")})
            vcf += "22\t" + std::to_string(at) + "\t.\t" + base + "\t" + alt + "\t.\t.\t.\n";
    write_file(folder / "v.vcf", vcf);
    const auto run = [&](const std::string& threads) {
        const std::vector<std::string> common{"--model", model,       "--reference", genome,     "--device",
                                              "cpu",     "--threads", threads,       "--output", "-"};
        return succeeded(run_program(joined({"predict-variants", "--variants", folder / "v.vcf"}, common)))
                   .out +
               succeeded(run_program(joined({"predict", "--regions", "22:17000001-17040000", "--tile", "200"},
                                            common)))
                   .out;
    };
    const std::string one = run("1");
    std::size_t rows = 0;
    for (std::size_t at = one.find("\n22\t"); at != std::string::npos; at = one.find("\n22\t", at + 1))
        ++rows;
    DOCTEST_CHECK(rows == 12 + 200);
    DOCTEST_CHECK(run("2") == one);
    DOCTEST_CHECK(run("5") == one);
}

DOCTEST_TEST_CASE("variants: build-background writes what predict-variants ranks effects among") {
    const ScoredVariants fixture;
    const auto run = [&](const std::string& model, const std::string& variants,
                         const std::vector<std::string>& more) {
        return run_program(joined({"build-background", "--model", model, "--reference", fixture / "genome.fa",
                                   "--variants", variants, "--device", "cpu", "--count", "20"},
                                  more));
    };
    const std::vector<std::string> output{"--output", fixture / "b.h5", "--skip-invalid"};
    const auto built = succeeded(run(fixture / "model", fixture / "v.vcf", output));
    DOCTEST_CHECK(holds(built.err, "effects of 1 variant and 20 shuffled ranked"));
    DOCTEST_CHECK(run(fixture / "model", fixture / "v.vcf", output).code == 2);
    const auto ranked = succeeded(
        fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--output", "-",
                          "--labels", "0", "--background", fixture / "b.h5", "--skip-invalid"}));
    DOCTEST_CHECK(holds(ranked.out, "label0:log_odds\tlabel0:quantile\tlabel0:p\n"));
    check_said(fixture.variants({"--model", fixture / "pretrained", "--variants", fixture / "v.vcf",
                                 "--output", "-", "--background", fixture / "b.h5", "--skip-invalid"}),
               3, "b.h5: is a background of another model");
    check_said(fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--output",
                                 "-", "--write", "p", "--skip-invalid"}),
               2, "--write p needs a background of effects");
    check_said(fixture.variants({"--model", fixture / "model", "--variants", fixture / "v.vcf", "--output",
                                 "-", "--write", "jsd", "--skip-invalid"}),
               2, "--write jsd is for models that give profiles: leave it out");
    check_said(run(fixture / "model", fixture / "v.vcf",
                   {"--output", fixture / "c.h5", "--skip-invalid", "--regions", fixture / "v.vcf"}),
               2, "--regions is for models that give profiles: leave it out");
}

DOCTEST_TEST_CASE("variants: a published model's file, its peaks, and the quantities of profiles") {
    const TestFolder folder;
    write_file(folder / "genome.fa", ">c\n" + random_dna(1000, 1) + "\n");
    write_file(
        folder / "v.vcf",
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nc\t500\ta\tN\tA\t.\t.\t.\n"
        "c\t501\t.\t" +
            random_dna(1000, 1).substr(500, 1) + "\tGATTACA\t.\t.\t.\n");
    write_file(folder / "peaks.bed", "c\t300\t400\nc\t500\t700\n");
    const auto words = [&](const std::string& command, const std::vector<std::string>& more) {
        return run_program(joined(
            {command, "--model", test_data("models/profiles/chrombpnet.h5"), "--reference",
             folder / "genome.fa", "--variants", folder / "v.vcf", "--skip-invalid", "--device", "cpu"},
            more));
    };
    const auto built = succeeded(words("build-background", {"--regions", folder / "peaks.bed", "--count", "5",
                                                            "--output", folder / "b.h5"}));
    DOCTEST_CHECK(holds(built.err, "effects of 1 variant and 5 shuffled ranked, 2 peaks scored in "));
    const auto found = succeeded(
        words("predict-variants", {"--background", folder / "b.h5", "--write",
                                   "log2-fold-change,jsd,active-allele-quantile", "--output", "-"}));
    check_holds(found.out, {"\n##count_offset=1\n", "\n##component=nobias\n",
                            "\tcounts:log2_fold_change\tcounts:jsd\tcounts:active_allele_quantile\n"});
    check_said(
        words("predict-variants", {"--background", folder / "b.h5", "--component", "bias", "--output", "-"}),
        3, "is a background of other options (component nobias, not component bias)");
    check_holds(succeeded(words("predict-variants", {"--dry-run"})).out,
                {"alleles           2 (50 % of 2 tried"});
}

DOCTEST_TEST_CASE("variants: predict-mutagenesis deletes or shuffles stretches, not both") {
    check_said(run_program({"predict-mutagenesis", "--model", "m", "--reference", "r", "--regions", "b",
                            "--output", "o.tsv", "--delete", "3", "--shuffle", "4"}),
               2, "--delete excludes --shuffle");
}

DOCTEST_TEST_CASE("embed: vectors of rows and of FASTA records") {
    const ScoredVariants fixture;
    write_file(fixture / "r.bed", "c\t0\t100\ta\n");
    const auto rows = works({"embed", "--model", fixture / "pretrained", "--reference", fixture / "genome.fa",
                             "--regions", fixture / "r.bed", "--device", "cpu", "--output", fixture / "e.npy",
                             "--output", fixture / "e.h5"});
    for (const char* file : {"e.npy", "e.rows.tsv", "e.h5"})
        DOCTEST_CHECK(fixture.has(file));
    const auto tokens = works({"embed", "--model", fixture / "model", "--sequences", fixture / "genome.fa",
                               "--pooling", "token", "--device", "cpu", "--output", "-", "--quiet"});
    DOCTEST_CHECK(holds(tokens.out, "n_fraction\ttoken\ttoken_start\ttoken_end\tpiece\td0\td1\t"));
    check_said(run_program({"embed", "--model", fixture / "model", "--output", "-"}), 2,
               "--regions with --reference, or --sequences, is needed");
}
