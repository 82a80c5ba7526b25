// SPDX-License-Identifier: Apache-2.0
// train with peaks and cut sites: a tiny genome with a motif that opens it, and an enzyme with a preference.
#include "cli/checks.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

/// Five contigs of 20 kb. A peak each 800 bases; fragments begin and end at GCACTGTAC.
class ProfileFixture : public TestFolder {
public:
    ProfileFixture() {
        Rng rng(4);
        std::ostringstream fasta, fragments, peaks;
        for (const char* name : {"a", "b", "c", "d", "e"}) {
            std::string dna;
            for (int i = 0; i < 20'000; ++i)
                dna += "ACGT"[rng.between(0, 3)];
            for (std::int64_t summit = 400; summit < 19'600; summit += 800) {
                dna.replace(static_cast<std::size_t>(summit), 9, "CGGGTAACG");
                const std::int64_t site = summit - 40 + rng.between(0, 20);
                dna.replace(static_cast<std::size_t>(site), 9, "GCACTGTAC");
                peaks << name << '\t' << summit - 100 << '\t' << summit + 100 << "\tp\t0\t.\t1\t1\t1\t100\n";
                for (int i = 0; i < 12; ++i)
                    fragments << name << '\t' << site + rng.between(0, 8) << '\t'
                              << site + rng.between(60, 90) << '\n';
            }
            for (int i = 0; i < 300; ++i) {
                const std::int64_t begin = rng.between(0, 19'800);
                fragments << name << '\t' << begin << '\t' << begin + rng.between(40, 150) << '\n';
            }
            fasta << '>' << name << '\n' << dna << '\n';
        }
        write_file(folder_ / "genome.fa", fasta.str());
        write_file(folder_ / "cuts.bed", fragments.str());
        write_file(folder_ / "peaks.narrowPeak", peaks.str());
        write_file(folder_ / "small.json",
                   R"({"filters": 8, "layers": 2, "stem": 9, "head": 11, "input": 240, "output": 60})");
    }
    std::vector<std::string> words(const std::string& output,
                                   const std::vector<std::string>& more = {}) const {
        return joined({"train", "--signal", *this / "cuts.bed", "--peaks", *this / "peaks.narrowPeak",
                       "--shift", "0,0", "--reference", *this / "genome.fa", "--config", *this / "small.json",
                       "--steps", "20", "--threads", "1", "--output", *this / output},
                      more);
    }
};

}  // namespace

DOCTEST_TEST_CASE("train: profiles of cut sites on top of a model of the enzyme's bias") {
    const ProfileFixture at;
    const auto words = at.words("out", {"--assay", "atac"});
    const ProgramResult plan = works(joined(words, {"--dry-run"}));
    check_holds(plan.out, {"data ", "windows of 240 bases, 60 predicted", "thresholds, each 2 steps of ",
                           "train, at most", ": 20 steps of ", "in all ", "memory "});
    DOCTEST_CHECK_FALSE(at.has("out"));
    const ProgramResult trained = works(words);
    check_holds(trained.err, {"held out by rule for test:", "bias: threshold ", " is taken", "step 4 of 4"});
    check_holds(trained.out, {"peaks      model with bias: Pearson", "peaks      bias model:",
                              "background table of hexamers:", "enzyme     largest marginal "});
    const Json evaluation = read_json(at / "out/evaluation.json");
    DOCTEST_CHECK(evaluation["peaks"]["model with bias"]["regions"].get<int>() > 5);
    DOCTEST_CHECK(evaluation["marginals"].size() == 5);
    DOCTEST_CHECK(std::ranges::count_if(evaluation["bias"],
                                        [](const Json& trial) { return trial.value("taken", false); }) == 1);
    DOCTEST_CHECK(evaluation["bias"].back()["steps"] == 10);  // half of them, after the sweep
    const std::string page = read_file(at / "out/report.html");
    check_holds(page, {"<h2>Reads</h2>", "full height: ", "Mean profile of test peaks",
                       "<h2>Motifs that the model learned</h2>", "<h2>Test peaks</h2>",
                       "<h2>The bias model</h2>", "<h2>What the enzyme prefers</h2>",
                       "<h2>Held-out peaks</h2>", "<h2>Training</h2>", "bigbird-dna train --peaks "});
    const ProgramResult again = works(words);
    DOCTEST_CHECK(again.out == trained.out);
    DOCTEST_CHECK(holds(again.err, "is finished already"));

    // What opens ChromBPNet opens the folder.
    for (const char* component : {"nobias", "bias", "joined"})
        works({"predict", "--model", at / "out", "--component", component, "--reference", at / "genome.fa",
               "--regions", at / "peaks.narrowPeak", "--anchor", "summit", "--output",
               at / (std::string(component) + ".tsv")});
    const ProgramResult corrected =
        works({"predict", "--model", at / "out", "--reference", at / "genome.fa", "--regions",
               at / "peaks.narrowPeak", "--anchor", "summit", "--output", at / "default.tsv"});
    DOCTEST_CHECK_FALSE(holds(corrected.err, "is ignored"));
    DOCTEST_CHECK(read_file(at / "default.tsv") == read_file(at / "nobias.tsv"));
    check_holds(run_program({"info", at / "out"}).out, {"nobias", "bias"});
    check_said(run_program(at.words("out", {"--assay", "atac", "--bias", "none"})), 2, "--bias");

    works(at.words("borrowed", {"--bias", at / "out/model"}));
    works(at.words("table", {"--bias", "kmers:3"}));
    const ProgramResult plain = works(at.words("plain"));
    check_holds(plain.out, {"peaks      model: Pearson"});
    check_holds(run_program({"info", at / "plain"}).out, {"yes"});
}

DOCTEST_TEST_CASE("train: a stopped training of profiles goes on to the same model") {
    const ProfileFixture at;
    works(at.words("whole"));
    const ProgramResult stopped = run_program(at.words("part", {"--max-hours", "0.000001"}));
    DOCTEST_CHECK(stopped.code == 75);
    works(at.words("part"));
    DOCTEST_CHECK(read_file(at / "whole/model/model.safetensors") ==
                  read_file(at / "part/model/model.safetensors"));
}

DOCTEST_TEST_CASE("train: what profiles refuse") {
    const ProfileFixture at;
    check_said(run_program(at.words("out", {"--bias", "kmers:9"})), 2,
               "--bias kmers:N takes 1 to 6 bases, not 9");
    check_said(run_program(at.words("out", {"--bin", "50"})), 2, "--bin");

    check_said(run_program({"train", "--signal", at / "cuts.bed", "--reference", at / "genome.fa", "--bin",
                            "8", "--output", at / "out"}),
               2, "macs3 callpeak");
}
