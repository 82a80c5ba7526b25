// SPDX-License-Identifier: Apache-2.0
// attribute, motifs marginalize and predict-mutagenesis as programs on published models of profiles, and the
// commands that do not take them.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <random>
#include <string>

using namespace bigbird::testing;

namespace {

const std::string letters_model = test_data("models/profiles/chrombpnet.h5");
constexpr int window_of_model = 266;

/// A genome of 40 windows of the model, each with `word` in its middle.
const std::string word = "TGATTACAGGCATCCGATAG";
class PublishedLetters : public TestFolder {
public:
    PublishedLetters() {
        std::mt19937 random(4);
        std::string dna, bed;
        for (int i = 0; i < 40 * window_of_model; ++i)
            dna += "ACGT"[random() % 4];
        for (int i = 0; i < 40; ++i) {
            dna.replace(static_cast<std::size_t>(i * window_of_model + 120), word.size(), word);
            bed += "c\t" + std::to_string(i * window_of_model) + "\t" +
                   std::to_string((i + 1) * window_of_model) + "\n";
        }
        write_file(folder_ / "genome.fa", ">c\n" + dna + "\n");
        write_file(folder_ / "all.bed", bed);
    }
    ProgramResult run(const std::string& line, const std::string& regions = "c:1001-1010") const {
        std::vector<std::string> words = words_of(line);
        const bool of_motifs = words[0] == "motifs";
        words.insert(words.end(), {"--model", letters_model, "--reference", *this / "genome.fa"});
        if (!of_motifs) words.insert(words.end(), {"--regions", regions});
        return run_program(words);
    }
};

}  // namespace

DOCTEST_TEST_CASE(
    "attribute: counts and profiles of a component, complete, as arrays in which motifs are found") {
    const PublishedLetters fixture;
    const auto result = succeeded(
        fixture.run("attribute --component joined --target profile --method deeplift --baseline shuffled:2 "
                    "--output -",
                    "c:1-266"));
    check_holds(result.out, {"##target=profile\n", "##component=joined\n", "##baseline=2 shuffles\n",
                             "##reverse_complement=average\n", "\nc\t0\t1\t.\tcounts\t"});
    check_holds(result.err, {"266 bases attributed in", "completeness: contributions sum to the difference"});
    succeeded(fixture.run("attribute --method deeplift --baseline shuffled:2 --output " + (fixture / "x.h5"),
                          fixture / "all.bed"));
    succeeded(run_program(
        {"motifs", "find", "--attributions", fixture / "x.h5", "--output", fixture / "found.meme"}));
    succeeded(run_program({"motifs", "scan", "--motifs", fixture / "found.meme", "--reference",
                           fixture / "genome.fa", "--output", fixture / "hits.bed"}));
    const std::string hits = read_file(fixture / "hits.bed");  // at the word, on either strand
    DOCTEST_CHECK(std::ranges::count(hits, '\n') > 20);
    check_said(fixture.run("attribute --target shape --output " + (fixture / "y.tsv")), 2, "counts");
    check_said(run_program(words_of("attribute --target counts --model " +
                                    test_data("models/chromatin-grch37").string() + " --reference " +
                                    test_data("genome/22.fa.gz").string() +
                                    " --regions 22:20500001-20500050 --output " + (fixture / "y.tsv"))),
               2, "--target needs a model that gives profiles: ChromBPNet, BPNet or Cherimoya");
    DOCTEST_CHECK_FALSE(fixture.has("y.tsv"));
}

DOCTEST_TEST_CASE("predict-mutagenesis, motifs marginalize: effects of published models, and mean profiles") {
    const PublishedLetters fixture;
    const auto effects = succeeded(fixture.run("predict-mutagenesis --output -"));
    check_holds(effects.out, {"##effect=log_ratio\n", "\nc\t1000\t1001\t.\tcounts\t"});
    write_file(fixture / "m.meme",
               "MEME version 4\n\nMOTIF one\nletter-probability matrix: alength= 4 w= 3 nsites= 9\n"
               " 1 0 0 0\n 0 1 0 0\n 0 0 1 0\n");
    const auto result =
        succeeded(fixture.run("motifs marginalize --backgrounds shuffled --motifs " + (fixture / "m.meme") +
                              " --output - --profile " + (fixture / "p.tsv.gz")));
    check_holds(result.out, {"one\t.\tcounts\t", "\t100\n"});
    DOCTEST_CHECK(fixture.has("p.tsv.gz"));
}

DOCTEST_TEST_CASE("published models: embed, motifs export and finetune refuse them in a sentence") {
    const PublishedLetters fixture;
    write_file(fixture / "peaks.bed", "c\t1000\t1400\nc\t5000\t5400\nc\t9000\t9300\n");
    succeeded(run_program(words_of("build-chromatin --validation c:4001-6000 --test c:8001-10000 --peaks " +
                                   (fixture / "peaks.bed") + " --reference " + (fixture / "genome.fa") +
                                   " --output " + (fixture / "examples"))));
    const std::string out = " --output " + (fixture / "x.npy"),
                      finetune =
                          "finetune --examples " + (fixture / "examples") + " --model " + letters_model;
    for (const auto& result : {fixture.run("embed" + out), fixture.run("motifs export" + out),
                               run_program(words_of(finetune + out)),
                               run_program(words_of(finetune + " --architecture bigbird-bins" + out))})
        check_said(result, 2, "is a published model of profiles, which ");
    DOCTEST_CHECK_FALSE(fixture.has("x.npy"));
}
