// SPDX-License-Identifier: Apache-2.0
// train: the whole chain on real sequence, beside the separate commands, stopped, and asked for what it
// refuses.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tiny_task.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <csignal>
#include <filesystem>
#include <set>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

std::string peaks(const std::string& name) {
    return test_data("chromatin/" + name + ".chr22.narrowPeak.gz");
}

/// A megabase of chromosome 22, three labels, a few steps; its end is held out unless `more` or `include` say
/// otherwise.
class TrainFixture : public TestFolder {
public:
    TrainFixture() { write_file(folder_ / "megabase.bed", "22\t20500000\t21500000\n"); }
    std::vector<std::string> words(const std::string& output, const std::vector<std::string>& more = {},
                                   const std::string& include = "megabase.bed") const {
        const bool chosen = include == "megabase.bed" && std::ranges::count(more, "--test") == 0;
        const auto held_out = words_of("--validation 22:21320001-21410000 --test 22:21410001-21500000");
        return joined(
            joined(words_of("train --steps 3 --seed 5 --min-positives 1 --device cpu --threads 2"),
                   {"--peaks", peaks("K562.CTCF"), peaks("K562.MAX"), peaks("K562.ATF3"), "--reference",
                    test_data("genome/22.fa.gz"), "--include", *this / include, "--output", *this / output}),
            chosen ? joined(held_out, more) : more);
    }
};

/// That the folder all/ of train has what it should, and the examples and models of the separate commands
/// beside it, whose scores this computes.
template <typename Folder>
void check_steps(const Folder& at) {
    for (const char* part : {"examples/manifest.json", "run/metrics.jsonl", "run/motifs.meme", "floor/model",
                             "scores/floor.tsv.gz", "scores/model.tsv.gz", "report.html", "train.json"})
        DOCTEST_CHECK_MESSAGE(std::filesystem::exists(at / (std::string("all/") + part)), part);
    DOCTEST_CHECK(read_file(at / "examples/manifest.json") == read_file(at / "all/examples/manifest.json"));
    for (const char* model : {"run", "floor"}) {
        DOCTEST_CHECK(weights_of(at / model) == weights_of(at / ("all/" + std::string(model))));
        works({"predict", "--model", at / model, "--examples", at / "all/examples", "--split", "test",
               "--device", "cpu", "--threads", "2", "--output", at / (std::string(model) + ".tsv.gz")});
    }
}

}  // namespace

DOCTEST_TEST_CASE("train: coverage beside a floor, and nothing to do where all is there") {
    const TempDir at;
    const auto words = joined(words_of("train --include I:1-150000 --validation I:100001-120000 --test "
                                       "I:120001-150000 --bin 100 --steps 3 --device cpu"),
                              {"--signal", test_data("tracks/tracks.tsv"), "--reference",
                               test_data("genome/yeast.fa.gz"), "--output", at / "out"});
    const ProgramResult trained = works(words);
    check_holds(trained.out, {"2 tracks; validation I:100001-120000 (192 bins)", "pearson_units model "});
    const Json evaluation = read_json(at.path() / "out/evaluation.json");
    DOCTEST_CHECK(evaluation["pearson"].get<double>() > 0.1);
    DOCTEST_CHECK(evaluation["others"][0]["name"] == "model");
    DOCTEST_CHECK(run_program(words).out == trained.out);
}

DOCTEST_TEST_CASE(
    "train: promoters from TSSs, with hold-outs by rule, a floor and a model that scores TSSs") {
    const TempDir at;
    const auto words = joined(words_of("train --steps 3 --seed 5 --device cpu --threads 2"),
                              {"--tss", test_data("promoter/tss.hg19.bed"), "--reference",
                               test_data("genome/22.fa.gz"), "--output", at / "out"});
    const ProgramResult trained = works(words);
    check_holds(trained.err, {"held out by rule for test: 22:", "held out by rule for validation: 22:"});
    check_holds(trained.out, {" windows of 300 bases, half of them promoters", "auroc    model "});
    DOCTEST_CHECK(run_program(words).out == trained.out);
    DOCTEST_CHECK(holds(read_file(at / "out/report.html"), "promoters from sequence"));
    works({"predict", "--model", at / "out", "--reference", test_data("genome/22.fa.gz"), "--regions",
           test_data("promoter/tss.hg19.bed"), "--skip-invalid", "--device", "cpu", "--output",
           at / "s.tsv"});
    const ProgramResult plan = works(joined(words, {"--dry-run"}));
    check_holds(plan.out, {"windows ", " of 300 bp: ", "3 steps of "});
    check_said(run_program(joined(words, {"--config", "small"})), 2, "--config");
    check_said(run_program(joined(words, {"--include", "22"})), 2, "--include");
}

DOCTEST_TEST_CASE("train: one command leaves what the separate ones leave") {
    const TrainFixture at;
    const ProgramResult result = works(at.words("all"));
    DOCTEST_CHECK(std::ranges::count(result.out, '\n') == 6);
    DOCTEST_CHECK(holds(result.out,
                        "examples 4492 bins of 200 bp, 3 labels; validation "
                        "22:21320001-21410000 (446 bins); test 22:21410001-21500000 (450 bins)\n"));
    check_holds(result.out, {" positive bins in test of K562.",
                             ": too few to trust the figures, and no intervals, "
                             "which need 5 blocks of genome in test and not 1\n"});

    const std::string examples = at / "all/examples";
    works({"build-chromatin", "--peaks", peaks("K562.CTCF"), peaks("K562.MAX"), peaks("K562.ATF3"),
           "--reference", test_data("genome/22.fa.gz"), "--include", at / "megabase.bed", "--window", "1000",
           "--validation", "22:21320001-21410000", "--test", "22:21410001-21500000", "--seed", "5",
           "--output", at / "examples"});
    works({"finetune", "--examples", examples, "--steps", "3", "--seed", "5", "--device", "cpu", "--threads",
           "2", "--output", at / "run"});
    works({"finetune", "--examples", examples, "--architecture", "kmer-ridge", "--kmer-length", "5",
           "--window=-100:100", "--seed", "5", "--output", at / "floor"});
    check_steps(at);
    works({"evaluate", "--scores", "floor=" + (at / "floor.tsv.gz"), "--scores",
           "model=" + (at / "run.tsv.gz"), "--examples", examples, "--min-positives", "1", "--seed", "5",
           "--output", at / "evaluation.json"});
    DOCTEST_CHECK(read_file(at / "evaluation.json") == read_file(at / "all/evaluation.json"));

    const Json figures = read_json(at / "all/evaluation.json");
    const double auroc = figures["others"][0]["groups"][0]["auroc_mean"].get<double>();
    DOCTEST_CHECK(holds(result.out, "AUROC    model " + fmt::format("{:.3f}", auroc)));
    const std::string page = read_file(at / "all/report.html"), card = read_file(at / "all/README.md");
    for (const char* part :
         {"Better than a linear model: ", "<th>model</th><th>floor</th><th>model \u2212 floor</th>",
          "<h2>Training</h2>", "<h2>Motifs that the model learned</h2>", "<h2>Held-out regions</h2>",
          "precision", "Reliability.", "<td class=text>bigbird-dna train --peaks ",
          "<figcaption>22:21410001-21500000</figcaption>"})
        DOCTEST_CHECK_MESSAGE(holds(page, part), part);
    DOCTEST_CHECK(card == read_file(at / "all/model/README.md"));
    DOCTEST_CHECK(holds(card, fmt::format("{:.4f}", auroc)));
    DOCTEST_CHECK_FALSE(holds(card, "Not looked at yet."));

    // The folder is the model, to other commands.
    write_file(at / "rows.bed", "22\t21000000\t21000200\n");
    works({"predict-chromatin", "--model", at / "all", "--reference", test_data("genome/22.fa.gz"),
           "--regions", at / "rows.bed", "--device", "cpu", "--output", at / "rows.tsv"});
    DOCTEST_CHECK(holds(run_program({"info", at / "all"}).out, "3 labels:\n  0  K562.CTCF.chr22"));

    const ProgramResult again = works(at.words("all"));
    DOCTEST_CHECK(again.out == result.out);
    DOCTEST_CHECK(holds(again.err, "is finished already"));
    check_said(run_program(at.words("all", {"--test", "22:21000001-21100000"})), 2,
               "--test is [\"22:21000001-21100000\"], but this run was started with "
               "[\"22:21410001-21500000\"]; use the same, give another --output, or start afresh with "
               "--force\n");
    DOCTEST_CHECK(read_file(at / "all/report.html") == page);
    const auto named = at.words("all", {"--known-motifs", test_data("motifs/known.jaspar")});
    works(named);  // writes the page again
    DOCTEST_CHECK(holds(read_file(at / "all/report.html"), " --known-motifs "));
    DOCTEST_CHECK(weights_of(at / "all") == weights_of(at / "run"));
    DOCTEST_CHECK(holds(works(named).err, "is finished already"));
    check_said(run_program(at.words("all", {"--known-motifs", at / "megabase.bed"})), 3, "megabase.bed");

    // More steps go on, in the run and in what follows from it; fewer are refused.
    std::vector<std::string> longer = at.words("all");
    *(std::ranges::find(longer, "--steps") + 1) = "5";
    const ProgramResult extended = works(longer);
    check_holds(extended.err,
                {"--steps is 5 now, it was 3: training goes on from step 3", "step 4 of 5: score"});
    DOCTEST_CHECK(metrics_of(at / "all/run").back()["step"] == 5);
    DOCTEST_CHECK(read_json(at / "all/train.json")["options"]["--steps"] == 5);
    DOCTEST_CHECK(run_program(longer).out == extended.out);
    check_said(run_program(at.words("all")), 2, "--steps is 3, but this run was started with 5");
}

DOCTEST_TEST_CASE("train: until there is a model, a corrected command in the same folder runs") {
    const TrainFixture at;
    check_said(run_program(at.words("out", {"--test", "22:20600001-20600600"})), 3,
               "no bin of test has a label");
    DOCTEST_CHECK(run_program(at.words("out"), {}, {.signal = SIGTERM, .once_said = "step 2 of 5"}).code ==
                  128 + SIGTERM);
    const std::vector<std::string> corrected = at.words("out", {"--test", "22:21000001-21100000"});
    const ProgramResult stopped = run_program(joined(corrected, {"--max-hours", "1e-9"}));
    DOCTEST_CHECK(stopped.code == 75);
    check_holds(stopped.err,
                {"begun with other options, and has no trained model yet: begins anew", "step 1 of 5"});
    DOCTEST_CHECK(holds(works(corrected).out, "test 22:21000001-21100000 (500 bins)"));
    check_said(run_program(at.words("out")), 2, "or start afresh with --force");
}

DOCTEST_TEST_CASE("train: what was stopped goes on, to the same figures") {
    const TrainFixture at;
    works(at.words("whole"));
    const auto stop = [&](int signal, const std::string& when) {
        return run_program(at.words("cut"), {}, {.signal = signal, .once_said = when}).code;
    };
    DOCTEST_CHECK(stop(SIGTERM, "step 1 of 5") == 128 + SIGTERM);
    DOCTEST_CHECK(stop(SIGTERM, "step 2 of 5") == 128 + SIGTERM);
    DOCTEST_CHECK(run_program(at.words("cut", {"--max-hours", "1e-9"})).code == 75);
    DOCTEST_CHECK(stop(SIGTERM, "step 4 of 5") == 128 + SIGTERM);
    works(at.words("cut"));
    DOCTEST_CHECK(read_file(at / "cut/evaluation.json") == read_file(at / "whole/evaluation.json"));
    DOCTEST_CHECK(weights_of(at / "cut") == weights_of(at / "whole"));
    DOCTEST_CHECK(run_program(at.words("cut", {"--force", "--max-hours", "1e-9"})).code == 75);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(at / "cut/report.html"));
}

DOCTEST_TEST_CASE("train: what it would take, and what it refuses before it begins") {
    const TrainFixture at;
    const ProgramResult forecast = works(at.words("none", {"--dry-run"}));
    check_holds(forecast.out, {"bins                  4492 of 200 bp, 3 labels: 3596 for training",
                               ": 3 steps of ", ": what the model learned, in ", " MB\n"});
    const ProgramResult of_table =
        works({"train", "--dry-run", "--table", test_data("sequences/promoters.csv.gz"), "--steps", "4"});
    // Two fits of k-mers choose the strand; the model and the floor have them, too.
    const std::string fitted = "170 records to learn from";
    const std::size_t first = of_table.err.find(fitted), second = of_table.err.find(fitted, first + 1);
    DOCTEST_CHECK(second != std::string::npos);
    DOCTEST_CHECK(of_table.err.find(fitted, second + 1) == std::string::npos);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(at / "none"));

    std::filesystem::create_directory(at / "mine");
    write_file(at / "mine/thesis.txt", "words");
    for (const char* force : {"--quiet", "--force"}) {
        check_said(run_program(at.words("mine", {force})), 2,
                   "holds thesis.txt and no train.json, so train did not make it");
    }
    write_file(at / "short.bed", "22\t21000000\t21010000\n");
    check_said(run_program(at.words("small", {}, "short.bed")), 3,
               "the reference has 50 bins with sequence on contigs with peaks, too few to hold some out");
    check_said(run_program(at.words("nothing", {"--test", "22:20600001-20600600"})), 3,
               "no bin of test has a label, so the model could not be judged");
    check_holds(works(at.words("some", {"--test", "22:20766001-20770000"})).err,
                {"1 of 3 labels without a positive bin in test: K562.ATF3"});
}

namespace {

/// Every n-th of the CTCF peaks of chromosome 22, at most `most`, as a BED file.
void write_few_peaks(const std::filesystem::path& bed, std::size_t most) {
    genome::TextInput input(peaks("K562.CTCF"));
    std::vector<std::string> lines;
    for (std::string line; input.next(line);)
        lines.push_back(line);
    std::string text;
    for (std::size_t i = 0; i < most; ++i)
        text += lines[i * lines.size() / most] + '\n';
    write_file(bed, text);
}

}  // namespace

DOCTEST_TEST_CASE("train: 96 and 17 peaks of one factor have figures, five are told what to give") {
    const TempDir at;
    const auto words = [&](std::size_t count, const std::vector<std::string>& more = {}) {
        const std::string name = std::to_string(count);
        write_few_peaks(at / (name + ".bed"), count);
        return joined(joined(words_of("train --steps 3 --seed 5 --device cpu --threads 2"),
                             {"--peaks", at / (name + ".bed"), "--reference", test_data("genome/22.fa.gz"),
                              "--output", at / name}),
                      more);
    };
    for (const std::size_t count : {96U, 17U}) {
        const ProgramResult trained = works(words(count));
        check_holds(trained.err, {"held out by rule for test: 22:", "held out by rule for validation: 22:"});
        check_holds(trained.out, {"AUROC    model 0.", "]; floor ", "; base rate 0.00",
                                  "in test: with so few, read the intervals, not the figures"});
        const Json figures = read_json(at.path() / std::to_string(count) / "evaluation.json");
        DOCTEST_CHECK(figures["labels"][0]["positives"] >= (count == 96 ? 10 : 3));
        DOCTEST_CHECK(figures["groups"][0]["auroc_mean_interval"].is_array());
    }
    const std::string too_few =
        "5 separate peaks are too few to hold some out by rule, which takes 10: give more "
        "peaks, or hold out --test 22:";
    check_said(run_program(words(5)), 3, too_few);
    check_said(run_program(words(5, {"--dry-run"})), 3, too_few);
    const std::string no_label =
        "no bin of test has a label, so the model could not be judged (bins with a label: ";
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--dry-run"}})
        check_said(run_program(words(5, joined({"--force", "--test", "22:16100001-16200000", "--validation",
                                                "22:16200001-16300000"},
                                               more))),
                   3, no_label);
}

namespace {

/// The first three fields of the lines of a table without its head.
std::set<std::string> places_in(const std::filesystem::path& table) {
    genome::TextInput input(table);
    std::set<std::string> places;
    for (std::string line; input.next(line);)
        if (!line.starts_with('#'))
            places.insert(line.substr(0, line.find('\t', line.find('\t', line.find('\t') + 1) + 1)));
    return places;
}

}  // namespace

DOCTEST_TEST_CASE("train: folds score each bin by the model that did not see it, and are one model") {
    const TestFolder at;
    const auto words = [&](const std::vector<std::string>& more) {
        return joined(joined(words_of("train --folds 3 --steps 2 --device cpu --threads 2"),
                             {"--peaks", peaks("K562.CTCF"), "--reference", test_data("genome/22.fa.gz"),
                              "--include", "22:20500001-21500000", "--output", at / "out"}),
                      more);
    };
    check_holds(works(words({"--dry-run"})).out, {": 3 folds, each 2 steps of "});
    DOCTEST_CHECK(run_program(words({}), {}, {.signal = SIGTERM, .once_said = "fold 2 of 3"}).code ==
                  128 + SIGTERM);
    const ProgramResult trained = works(words({}));
    check_holds(trained.err, {"fold 1 of 3", "is finished already", "fold 3 of 3"});
    check_holds(trained.out,
                {"AUROC    model 0.", "folds    3: each bin is scored by the model that did not"});
    DOCTEST_CHECK_FALSE(holds(trained.err, "no row is in"));
    DOCTEST_CHECK(holds(read_file(at / "out/report.html"), "href=\"folds/3/report.html\""));
    std::set<std::string> tested;
    for (const char* fold : {"1", "2", "3"}) {
        const std::filesystem::path examples = std::filesystem::path(at / "out/folds") / fold / "examples";
        const std::set<std::string> train = places_in(examples / "train.bed");
        DOCTEST_CHECK(train.size() > 500);
        for (const std::string& place : places_in(examples / "test.bed")) {
            DOCTEST_CHECK_FALSE(train.contains(place));
            DOCTEST_CHECK(tested.insert(place).second);
        }
    }
    DOCTEST_CHECK(tested.size() > 4000);
    DOCTEST_CHECK(places_in(at / "out/scores/model.tsv.gz") == tested);
    DOCTEST_CHECK(read_json(std::filesystem::path(at / "out/evaluation.json"))["rows"] == tested.size());
    DOCTEST_CHECK(
        holds(read_file(at / "out/README.md"), "each scored by the one of 3 networks that did not see it"));
    DOCTEST_CHECK(run_program(words({})).out == trained.out);

    // The folder is the mean of the three.
    write_file(at / "rows.bed", "22\t21000000\t21000200\n");
    const auto score = [&](const std::vector<std::string>& models) {
        std::vector<std::string> predict{"predict",   "--reference",   test_data("genome/22.fa.gz"),
                                         "--regions", at / "rows.bed", "--device",
                                         "cpu",       "--output",      "-"};
        for (const std::string& model : models)
            predict.insert(predict.end(), {"--model", model});
        return works(predict).out;
    };
    DOCTEST_CHECK(score({at / "out"}) == score({at / "out/folds/1", at / "out/folds/2", at / "out/folds/3"}));
    check_said(run_program(words({"--test", "22"})), 2, "--test excludes --folds");

    // Trained folds are kept: other options are refused, more steps go on and are evaluated.
    check_said(run_program(words({"--seed", "1"})), 2, "or start afresh with --force");
    std::vector<std::string> longer = words({});
    *(std::ranges::find(longer, "--steps") + 1) = "3";
    const std::string before = read_file(at / "out/scores/model.tsv.gz");
    check_holds(works(longer).err, {"--steps is 3 now, it was 2: training goes on from step 2"});
    DOCTEST_CHECK(read_file(at / "out/scores/model.tsv.gz") != before);
}

namespace {

/// The words of train on the promoters that come along; `more` goes behind.
std::vector<std::string> table_words(const std::string& output, const std::vector<std::string>& more = {}) {
    return joined(
        {"train", "--table", test_data("sequences/promoters.csv.gz"), "--strand", "given", "--steps", "4",
         "--members", "2", "--seed", "5", "--device", "cpu", "--threads", "2", "--output", output},
        more);
}

}  // namespace

DOCTEST_TEST_CASE("train: a table of sequences becomes what the separate commands leave") {
    const TempDir at;
    const ProgramResult result = works(table_words(at / "all"));
    DOCTEST_CHECK(result.out.starts_with("examples 214 sequences, 2 classes; "));
    check_said(run_program(table_words(at / "none", {"--min-positives", "3"})), 2,
               "--min-positives requires --peaks");
    check_said(run_program(table_words(at / "none", {"--epochs", "3"})), 2, "--epochs excludes --steps");
    const std::string examples = at / "all/examples";
    works({"build-sequences", "--table", test_data("sequences/promoters.csv.gz"), "--split-by",
           "similarity:0.8,0.1,0.1", "--seed", "5", "--output", at / "examples"});
    works({"finetune", "--examples", examples, "--strand", "given", "--steps", "4", "--members", "2",
           "--seed", "5", "--device", "cpu", "--threads", "2", "--output", at / "run"});
    works({"finetune", "--examples", examples, "--strand", "given", "--architecture", "kmer-logistic",
           "--output", at / "floor"});
    check_steps(at);
    works({"evaluate", "--scores", "floor=" + (at / "floor.tsv.gz").string(), "--scores",
           "model=" + (at / "run.tsv.gz").string(), "--examples", examples, "--seed", "5", "--output",
           at / "evaluation.json"});
    DOCTEST_CHECK(read_file(at / "evaluation.json") == read_file(at / "all/evaluation.json"));

    const double mcc = read_json(at / "all/evaluation.json")["others"][0]["mcc"].get<double>();
    DOCTEST_CHECK(holds(result.out, "mcc      model " + fmt::format("{:.3f}", mcc)));
    const std::string page = read_file(at / "all/report.html"), card = read_file(at / "all/README.md");
    for (const char* part :
         {"all: labels from sequence", "model \u2212 floor", "<h2>Confusion</h2>",
          "Motifs that the model learned", ", 2 networks", "floor: logistic regression on k-mers."})
        DOCTEST_CHECK_MESSAGE(holds(page, part), part);
    DOCTEST_CHECK(card == read_file(at / "all/model/README.md"));
    DOCTEST_CHECK(holds(card, "### Rows of test"));
    DOCTEST_CHECK_FALSE(holds(card, "Not looked at yet."));
    works({"predict", "--model", at / "all", "--sequences", test_data("sequences/promoters.csv.gz"),
           "--output", at / "rows.tsv"});

    const ProgramResult again = run_program(table_words(at / "all"));
    DOCTEST_CHECK(again.out == result.out);
    DOCTEST_CHECK(holds(again.err, "is finished already"));
    check_said(run_program(table_words(at / "all", {"--split-by", "fraction:0.8,0.1,0.1"})), 2,
               "--split-by is \"fraction:0.8,0.1,0.1\", but this run was started");
}

DOCTEST_TEST_CASE("train: sequences that were stopped go on, and a forecast names them") {
    const TempDir at;
    const ProgramResult forecast = works(table_words(at / "none", {"--dry-run"}));
    check_holds(forecast.out, {"sequences             214, 2 classes: ", ": 2 networks, each 4 steps of "});
    DOCTEST_CHECK_FALSE(std::filesystem::exists(at / "none"));
    works(table_words(at / "whole"));
    for (const char* when : {"step 2 of 5", "Member 2 of 2", "step 4 of 5"})
        DOCTEST_CHECK(run_program(table_words(at / "cut"), {}, {.signal = SIGTERM, .once_said = when}).code ==
                      128 + SIGTERM);
    works(table_words(at / "cut"));
    DOCTEST_CHECK(read_file(at / "cut/evaluation.json") == read_file(at / "whole/evaluation.json"));
    DOCTEST_CHECK(weights_of(at / "cut") == weights_of(at / "whole"));
}

DOCTEST_TEST_CASE("train: tables for the splits, numbers, FASTA, and what does not go together") {
    const TempDir at;
    std::string train = "sequence,activity\n", test = train;
    for (int i = 0; i < 60; ++i)
        (i % 3 > 0 ? train : test) +=
            random_dna(60, static_cast<std::uint64_t>(i)) + "," + std::to_string(i) + ".5\n";
    write_file(at / "train.csv", train);
    write_file(at / "test.csv", test);
    const auto run = [&](std::vector<std::string> words) {
        return run_program(
            joined({"train", "--steps", "2", "--members", "1", "--device", "cpu", "--quiet"}, words));
    };
    const std::vector<std::string> numbers{"--table",        at / "train.csv", "--test",   at / "test.csv",
                                           "--label-column", "activity",       "--target", "number",
                                           "--output",       at / "numbers"};
    const ProgramResult result = succeeded(run(numbers));
    DOCTEST_CHECK(result.out.starts_with(
        "examples 60 sequences, 1 number; 40 for training, 0 for validation, 20 for test\npearson  model "));
    DOCTEST_CHECK(holds(read_file(at / "numbers/report.html"), "floor: ridge regression on k-mers."));
    std::string one, other;
    for (int i = 0; i < 40; ++i)
        (i % 2 > 0 ? one : other) +=
            ">r" + std::to_string(i) + "\n" + random_dna(60, static_cast<std::uint64_t>(i)) + "\n";
    write_file(at / "pos.fa", one);
    write_file(at / "neg.fa", other);
    const ProgramResult fasta = run({"--fasta", at / "pos.fa", at / "neg.fa", "--split-by",
                                     "fraction:0.6,0.2,0.2", "--output", at / "fasta"});
    DOCTEST_INFO(fasta.err);
    DOCTEST_CHECK(fasta.out.starts_with(
        "examples 40 sequences, 2 classes; 24 for training, 8 for validation, 8 for test\naccuracy model "));

    const auto refused = [&](const std::vector<std::string>& words) {
        const ProgramResult refusal = run(words);
        DOCTEST_CHECK(refusal.code == 2);
        return refusal.err;
    };
    const std::string table = at / "train.csv", output = at / "none";
    DOCTEST_CHECK(
        holds(refused({"--output", output}), "--peaks, --signal, --tss, --table or --fasta is required"));
    DOCTEST_CHECK(holds(refused({"--table", table, "--validation", table, "--output", output}),
                        "--test is needed beside --validation"));
    DOCTEST_CHECK(holds(refused({"--table", table, "--reference", table, "--output", output}),
                        "--reference excludes --table and --fasta"));
    DOCTEST_CHECK(holds(
        refused({"--table", table, "--peaks", table, "--reference", table, "--output", output}), "excludes"));
}
