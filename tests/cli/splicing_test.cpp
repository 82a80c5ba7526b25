// SPDX-License-Identifier: Apache-2.0
// predict-splicing as a program.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>

using namespace bigbird::testing;

namespace {

class SplicedRuns : public TestFolder {
public:
    std::vector<std::string> words(const std::string& command = "predict-splicing") const {
        const std::string files = test_data("variants/splicing");
        return {command,
                "--model",
                test_data("models/splicing/keras"),
                "--reference",
                files + "/genome.fa",
                "--variants",
                files + "/variants.vcf",
                "--skip-invalid"};
    }
    ProgramResult run(const std::vector<std::string>& more,
                      const std::string& command = "predict-splicing") const {
        return run_program(joined(words(command), more));
    }
    const std::string annotation = test_data("variants/splicing/genes.tsv");
};

}  // namespace

DOCTEST_TEST_CASE("splicing: a VCF on standard output, by the alias and by predict-variants") {
    const SplicedRuns fixture;
    const auto alias = succeeded(fixture.run({"--annotation", fixture.annotation, "--output", "-"}));
    check_holds(alias.out, {"##INFO=<ID=SpliceAI,Number=.,Type=String,Description=\"bigbird-dna ",
                            "\t.\tSpliceAI=", "\n##bigbird-dna_mask=0\n"});
    check_holds(alias.err, {"alleles scored; no_alt 2, ", "4 genes, 4 of them on contigs of the reference"});
    const auto same =
        succeeded(fixture.run({"--annotation", fixture.annotation, "--output", "-"}, "predict-variants"));
    DOCTEST_CHECK(same.out == alias.out);
    const auto piped =
        run_program({"predict-splicing", "--model", test_data("models/splicing/keras"), "--reference",
                     test_data("variants/splicing/genome.fa"), "--variants", "-", "--annotation",
                     fixture.annotation, "--skip-invalid", "--output", "-", "--threads", "2"},
                    read_file(test_data("variants/splicing/variants.vcf")));
    DOCTEST_CHECK(succeeded(piped).out == alias.out);
}

DOCTEST_TEST_CASE("splicing: options, tables, and what the log says") {
    const SplicedRuns fixture;
    const std::vector<std::string> usual{"--annotation", fixture.annotation, "--output", fixture / "out.tsv"};
    for (const std::string word : {"--mask", "--mask 1", "--mask=1"}) {
        succeeded(fixture.run(joined(joined(usual, {"--force"}), words_of(word))));
        check_holds(read_file(fixture / "out.tsv"), {"##mask=1\n", "\tDS_AG\t"});
    }
    succeeded(fixture.run(joined(usual, {"--force", "--mask", "0", "--mode", "exact", "--distance", "20"})));
    check_holds(read_file(fixture / "out.tsv"), {"##mask=0\n", "##mode=exact\n", "##distance=20\n"});
    const auto forecast = succeeded(fixture.run({"--annotation", fixture.annotation, "--dry-run"}));
    check_holds(forecast.out, {"alleles  ", "seconds  ", "memory  "});
    check_said(fixture.run({"--output", fixture / "other.vcf"}), 2, "--annotation is required");
    check_said(fixture.run({"--annotation", fixture.annotation}), 2, "--output is needed, or --dry-run");
    check_said(fixture.run(joined(usual, {"--force", "--tss", "x.bed"})), 2,
               "--tss is for the task promoter");
    check_said(fixture.run(joined(usual, {"--force", "--distance", "5000"})), 2, "--distance");
    check_said(fixture.run(joined(usual, {"--force", "--mask", "2"})), 2, "--mask");
    check_said(fixture.run(joined(usual, {"--force", "--write", "ref"})), 2, "--write takes status");
    check_said(fixture.run({"--mode", "exact", "--output", fixture / "other.vcf"}, "predict-variants"), 2,
               "--mode is for splice models, which need --annotation");
    DOCTEST_CHECK_FALSE(fixture.has("other.vcf"));
}

DOCTEST_TEST_CASE("splicing: annotations of another assembly or form are refused") {
    const SplicedRuns fixture;
    write_file(fixture / "genes.tsv",
               "#NAME\tCHROM\tSTRAND\tTX_START\tTX_END\tEXON_START\tEXON_END\nA\t1\t+\t0\t1900\t0,700,\t300,"
               "1900,\n");
    const std::vector<std::string> words{"predict-splicing",
                                         "--model",
                                         test_data("models/splicing/keras"),
                                         "--reference",
                                         test_data("variants/splicing/genome.fa"),
                                         "--variants",
                                         test_data("variants/splicing/variants.vcf"),
                                         "--annotation",
                                         fixture / "genes.tsv",
                                         "--output",
                                         fixture / "out.vcf"};
    check_said(run_program(words), 3, "are both of one assembly?");
    write_file(fixture / "genes.tsv", "chr1\t10\t20\n");
    check_said(run_program(words), 3, "genes.tsv:1: is no row of GTF or GFF3");
    DOCTEST_CHECK_FALSE(fixture.has("out.vcf"));
}

DOCTEST_TEST_CASE("splicing: predict writes tracks of splice sites, and refuses options of other models") {
    const SplicedRuns fixture;
    write_file(fixture / "regions.bed", "1\t100\t130\n");
    const std::vector<std::string> words{"predict",
                                         "--model",
                                         test_data("models/splicing/open"),
                                         "--reference",
                                         test_data("variants/splicing/genome.fa"),
                                         "--regions",
                                         fixture / "regions.bed"};
    const auto run = succeeded(
        run_program(joined(words, {"--output", fixture / "{label}.bw", "--output", fixture / "sites.tsv"})));
    check_holds(run.err, {"30 of 30 bases scored"});
    check_holds(read_file(fixture / "sites.tsv"),
                {"##family=OpenSpliceAI\n", "\tacceptor_plus\tdonor_plus\tacceptor_minus\tdonor_minus\n"});
    DOCTEST_CHECK(fixture.has("donor_minus.bw"));
    check_said(run_program(joined(words, {"--output", fixture / "x.tsv", "--tile", "200"})), 2,
               "--tile is for the task chromatin, promoter, and this is splicing");
    check_said(run_program(words), 2, "--output is required");
}

DOCTEST_TEST_CASE("splicing: help has the options of splice models before those of other models") {
    const std::string help = succeeded(run_program({"predict-splicing", "--help"})).out;
    check_holds(help, {"\n  --annotation ", "\n  --distance ", "\n  --mask ", "\n  --mode "});
    DOCTEST_CHECK(help.find("\nSplice models:") < help.find("\nOutput:"));
    const std::string all_models = succeeded(run_program({"predict-variants", "--help"})).out;
    DOCTEST_CHECK(all_models.find("\nSplice models:") > all_models.find("\nOutput:"));
}
