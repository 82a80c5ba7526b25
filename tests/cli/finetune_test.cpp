// SPDX-License-Identifier: Apache-2.0
// finetune-*: several processes, and every architecture through training, prediction and evaluation.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/bin_examples.hpp"
#include "tasks/tiny_task.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <csignal>
#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

class FinetunedModel : public TestFolder {
public:
    explicit FinetunedModel(std::int64_t rows = 120) {
        write_motif_examples(folder_ / "examples", rows, 3);
        write_tiny_pretrained(folder_ / "pretrained", 1);
    }
    ProgramResult finetune(const std::string& run, const std::vector<std::string>& more) const {
        std::vector<std::string> words{
            "finetune-chromatin", "--examples", *this / "examples", "--output", *this / run,
            "--device",           "cpu"};
        const bool is_linear = std::ranges::any_of(
            more, [](const auto& word) { return word == "kmer-ridge" || word == "gkm-svm"; });
        if (!is_linear) words.insert(words.end(), {"--batch-size", "6"});
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }
    std::vector<double> losses(const std::string& run) const {
        return values_of(*this / run, {"loss", "eval_loss"});
    }
};

}  // namespace

DOCTEST_TEST_CASE("finetune: two processes train as one, stop together and go on as one") {
    const FinetunedModel fixture;
    const std::vector<std::string> words{
        "--model", fixture / "pretrained", "--steps", "4", "--threads", "2", "--dropout", "0.1"};
    succeeded(fixture.finetune("one", words));
    const ProgramResult two = succeeded(fixture.finetune("two", joined({"--processes", "2"}, words)));
    const std::vector<double> one = fixture.losses("one"), both = fixture.losses("two");
    DOCTEST_REQUIRE(one.size() == 8);  // an evaluation a step
    DOCTEST_REQUIRE(both.size() == one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(both[i] == doctest::Approx(one[i]).epsilon(2e-5));
    DOCTEST_CHECK(fixture.finetune("half", joined({"--processes", "2", "--max-hours", "1e-9"}, words)).code ==
                  75);
    succeeded(fixture.finetune("half", words));
    DOCTEST_CHECK(fixture.losses("half").back() == doctest::Approx(one.back()).epsilon(2e-5));
    check_said(fixture.finetune("few", joined({"--processes", "7"}, words)), 2,
               "--batch-size 6 leaves some of the 7 processes without a window");
}

DOCTEST_TEST_CASE(
    "finetune: scores are calibrated on validation, and the card says what the model is worth") {
    const FinetunedModel fixture(600);
    const std::vector<std::string> words{"--architecture", "kmer-ridge"};
    succeeded(fixture.finetune("plain", {"--architecture", "kmer-ridge", "--calibration", "none"}));
    succeeded(fixture.finetune("run", words));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(fixture / "plain/model/calibration.json"));
    const Json calibration = read_json(fixture / "run/model/calibration.json");
    DOCTEST_CHECK(calibration["biases"].size() == 2);
    DOCTEST_CHECK(calibration["cross_entropy_after"] < calibration["cross_entropy_before"]);
    // The weights are the same; the scores are not, but in the same order.
    DOCTEST_CHECK(weights_of(fixture / "plain") == weights_of(fixture / "run"));
    const auto evaluate = [&](const std::string& scores, const std::string& report,
                              const std::vector<std::string>& more = {}) {
        return run_program(
            joined({"evaluate-chromatin", "--scores", fixture / scores, "--examples", fixture / "examples",
                    "--split", "validation", "--resamples", "0", "--output", fixture / report},
                   more));
    };
    double errors[2], areas[2];
    for (const int i : {0, 1}) {
        const std::string run = i == 0 ? "plain" : "run";
        works({"predict-chromatin", "--model", fixture / run, "--examples", fixture / "examples", "--split",
               "validation", "--device", "cpu", "--output", fixture / (run + ".tsv")});
        succeeded(evaluate(run + ".tsv", run + ".json"));
        const Json json = read_json(fixture / (run + ".json"));
        errors[i] = json["reliability"]["brier"].get<double>();
        areas[i] = json["groups"][0]["auroc_mean"].get<double>();
    }
    DOCTEST_CHECK(errors[1] != errors[0]);
    DOCTEST_CHECK(areas[1] == doctest::Approx(areas[0]).epsilon(1e-6));
    const std::string card = read_file(fixture / "run/model/README.md");
    check_holds(card, {"# kmer-ridge for chromatin, 2 labels\n", "Not looked at yet."});
    succeeded(evaluate("run.tsv", "again.json", {"--model-card", fixture / "run/model"}));
    DOCTEST_CHECK(read_file(fixture / "run/model/README.md") != card);
    DOCTEST_CHECK(evaluate("run.tsv", "third.json", {"--model-card", fixture / "examples"}).code == 3);
    DOCTEST_CHECK_FALSE(fixture.has("third.json"));
    write_file(fixture / "run/model/model.safetensors", "another model's weights");
    check_said(evaluate("run.tsv", "third.json", {"--model-card", fixture / "run/model"}), 2,
               "holds the scores of another model than");
}

DOCTEST_TEST_CASE("finetune: every architecture is trained, described, and predicts and is evaluated") {
    const FinetunedModel fixture;
    const std::vector<std::pair<std::string, std::vector<std::string>>> architectures{
        {"bigbird",
         {"--model", fixture / "pretrained", "--steps", "3", "--pooling", "centre", "--dtype", "bf16",
          "--positive-weight", "balanced"}},
        {"cnnprom", {"--window=-60:60", "--steps", "3"}},
        {"deepromoter", {"--window=-60:60", "--steps", "3"}},
        {"deepsea", {"--window=-90:90", "--steps", "3"}},
        {"gkm-svm", {"--kmer-length", "5:3"}},
        {"kmer-ridge", {"--kmer-length", "4"}}};
    for (const auto& [name, more] : architectures) {
        DOCTEST_CAPTURE(name);
        std::vector<std::string> words = joined({"--architecture", name, "--threads", "1"}, more);
        const ProgramResult trained = succeeded(fixture.finetune(name, words));
        DOCTEST_CHECK(!holds(trained.err, "Warning:"));  // PyTorch's own
        DOCTEST_CHECK(!holds(trained.err, "{\""));
        DOCTEST_CHECK(holds(trained.err, "solved: features ") == (name == "kmer-ridge" || name == "gkm-svm"));
        const ProgramResult again = fixture.finetune(name, words);
        DOCTEST_CHECK(holds(again.err, "this run is finished already"));
        const ProgramResult scores =
            works({"predict-chromatin", "--model", fixture / name, "--examples", fixture / "examples",
                   "--split", "test", "--output", fixture / (name + ".tsv"), "--device", "cpu"});
        works({"evaluate-chromatin", "--scores", fixture / (name + ".tsv"), "--examples",
               fixture / "examples", "--resamples", "0", "--output", "-"});
        const ProgramResult info = works({"info", "--json", "--check", fixture / (name + "/model")});
        const Json json = Json::parse(info.out);
        DOCTEST_CHECK(json["bigbird_dna"]["task_model"]["training"]["--architecture"] == name);
        DOCTEST_CHECK(json["labels"] == 2);
    }
    const ProgramResult by_verb =
        run_program({"finetune", "--examples", fixture / "examples", "--output", fixture / "kmer-ridge",
                     "--architecture", "kmer-ridge", "--kmer-length", "4", "--threads", "1"});
    DOCTEST_CHECK(holds(by_verb.err, "this run is finished already"));
    check_said(fixture.finetune("kmer-ridge", {"--architecture", "kmer-ridge", "--kmer-length", "5"}), 2,
               "--kmer-length is 5, but this run was started with 4");
}

DOCTEST_TEST_CASE("finetune: options that do not belong together") {
    const FinetunedModel fixture;
    const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
        check_error(fixture.finetune("run", words), 2, sentence);
    };
    refused({"--architecture", "bigbird"},
            "--model is needed: the pretrained model to start from. Without one, give --architecture: "
            "bigbird-bins, deepsea, gkm-svm, kmer-ridge");
    refused({"--architecture", "deepsea", "--model", fixture / "pretrained"},
            "--model is for --architecture bigbird and bigbird-bins: deepsea starts from nothing");
    refused({"--architecture", "deepsea"},
            "--window -500:500 of deepsea is not inside the examples' windows, -100:100");
    refused({"--architecture", "kmer-ridge", "--window=-101:0"},
            "--window -101:0 is not inside the examples' windows, -100:100");
    refused({"--architecture", "resnet"},
            "--architecture 'resnet' is not known; there are bigbird, probe, bigbird-bins, deepsea, gkm-svm, "
            "kmer-ridge");
    refused({"--positive-weight", "-1"},
            "--positive-weight: '-1' is neither a number above 0 nor balanced; see 'bigbird-dna "
            "finetune-chromatin --help'");
    works({"finetune-chromatin", "--examples", fixture / "examples", "--output", fixture / "ridge",
           "--architecture", "kmer-ridge", "--device", "cpu"});
    check_said(fixture.finetune("run", {"--model", fixture / "ridge"}), 3,
               "only 'big_bird', 'longformer' and 'bigbird_dna' models can be used");
}

DOCTEST_TEST_CASE("finetune: options that the chosen model does not read are refused") {
    const FinetunedModel fixture;
    const auto refused = [&](std::vector<std::string> words, const std::string& sentence) {
        words.insert(words.begin(), "--architecture");
        check_error(fixture.finetune("run", words), 2, sentence);
    };
    refused({"kmer-ridge", "--learning-rate", "1e-3"},
            "--learning-rate has no effect with --architecture kmer-ridge: it is for models that are trained "
            "step by step");
    refused({"deepsea", "--head", "linear"},
            "--head has no effect with --architecture deepsea: it is for bigbird, --head bins");
    refused({"deepsea", "--teacher", "t.npy"},
            "--teacher has no effect with --architecture deepsea: it is for --head bins, bigbird-bins");
    refused({"bigbird", "--head", "bins", "--motifs", "1"},
            "--motifs has no effect with --head bins: it is for bigbird-bins");
    refused({"bigbird-bins", "--most-windows", "2"},
            "--most-windows has no effect with --architecture bigbird-bins: it is for gkm-svm");
    refused({"bigbird-bins", "--loss", "poisson"},
            "--loss has no effect with examples of peaks: it is for coverage and numbers");
    refused({"bigbird-bins", "--pooling", "cls"},
            "--pooling has no effect with --architecture bigbird-bins: it is for bigbird, probe");
    refused({"gkm-svm", "--max-hours", "1"},
            "--max-hours has no effect with --architecture gkm-svm: it is for models that are trained step "
            "by step");
    refused({"deepsea", "--evaluate-every", "0", "--patience", "2"},
            "--patience has no effect with --evaluate-every 0: it is for runs with several evaluations");
    refused({"bigbird-bins", "--model", test_data("models/chromatin-grch37"), "--window", "3200"},
            "--window has no effect with --architecture bigbird-bins: it is for models that begin without "
            "--model");
    check_said(fixture.finetune("run", {"--epochs", "1", "--steps", "1"}), 2, "--steps excludes --epochs");
}

DOCTEST_TEST_CASE(
    "finetune: what sequences, their labels and other options leave without effect is refused") {
    const TempDir folder;
    write_file(folder / "t.csv",
               "sequence,label,split\nACGTACGTAC,a,train\nACGTTTGTAC,b,train\n"
               "GGGTTTGTAC,b,train\nGGGTACGTAC,a,test\n");
    works({"build-sequences", "--table", folder / "t.csv", "--split-by", "column:split", "--output",
           folder / "classes"});
    const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
        check_error(
            run_program(joined(
                {"finetune-sequences", "--examples", folder / "classes", "--output", folder / "run"}, words)),
            2, sentence);
    };
    refused({"--architecture", "bigbird-sequence", "--model", folder / "x"},
            "--model is for --architecture bigbird: bigbird-sequence starts from nothing");
    refused({"--model", test_data("models/chromatin-grch37")},
            "--model " + test_data("models/chromatin-grch37").string() +
                " is a bin model, from which only examples of build-chromatin and build-tracks go on: give a "
                "model of pretrain, or leave out --model");
    refused({"--architecture", "cnnprom", "--members", "1"},
            "--members has no effect with --architecture cnnprom: it is for bigbird-sequence");
    refused({"--loss", "squared"},
            "--loss has no effect with examples of classes: it is for coverage and numbers");
    write_file(folder / "n.csv",
               "sequence,label,split\nACGTACGTAC,3,train\nACGTTTGTAC,1,train\n"
               "GGGTACGTAC,2,test\n");
    works({"build-sequences", "--table", folder / "n.csv", "--target", "number", "--split-by", "column:split",
           "--output", folder / "counts"});
    const std::vector<std::string> counts{
        "finetune", "--examples", folder / "counts", "--loss", "poisson",  "--members",          "1",
        "--steps",  "1",          "--device",        "cpu",    "--output", folder / "counts-run"};
    check_error(run_program(joined(counts, {"--kmer-length", "4"})), 2,
                "--kmer-length has no effect with --loss poisson: it is for --loss squared");
    works(counts);
}

DOCTEST_TEST_CASE("finetune: rows and labels of sequences that teach nothing are named") {
    const TempDir folder;
    write_file(folder / "t.csv",
               "sequence,x,y,split\nACGTACGTAC,1,0,train\nGGGTTTGTAC,0,0,train\nNNNNNNNNNN,0,0,train\n"
               "GGGTACGTAC,1,1,test\n");
    works({"build-sequences", "--table", folder / "t.csv", "--label-column", "x,y", "--split-by",
           "column:split", "--output", folder / "examples"});
    check_holds(
        works({"finetune", "--examples", folder / "examples", "--architecture", "kmer-logistic", "--output",
               folder / "run"})
            .err,
        {"the examples have no validation rows: the penalty is the usual one, scores are not calibrated",
         "warning: nothing can be learned of what is the same in all 3 rows of train: y\n",
         "2 records to learn from, 0 for validation",
         "warning: left out of train, since they are N or too short: 1 row\n"});
    check_error(run_program({"finetune", "--examples", folder / "none", "--architecture", "kmer-logistic",
                             "--output", folder / "run"}),
                3,
                (folder / "none").string() +
                    ": is no folder of examples: it holds no manifest.json; build-promoters, "
                    "build-chromatin, build-tracks and build-sequences make one");
}

DOCTEST_TEST_CASE(
    "finetune: a model of bins has defaults of its own, trains on two processes, goes on, predicts") {
    const TempDir folder;
    const auto at = [&](const std::string& name) { return (folder / name).string(); };
    write_bin_examples(folder / "examples", 100, 1);
    write_json(folder / "small.json", bins::to_json(small_bins()), Overwrite::allow);
    const auto train = [&](const std::string& run, std::vector<std::string> more,
                           const Disturbance& disturbance = {}) {
        std::vector<std::string> words =
            joined({"finetune-chromatin", "--examples", at("examples"), "--config", at("small.json"),
                    "--device", "cpu", "--output", at(run)},
                   more);
        return run_program(words, {}, disturbance);
    };
    // 55 bins are as good as 7 windows of 8 bins: 10 epochs are 9 steps of 8 windows, fewer than the 300 that
    // are run without --epochs.
    succeeded(train("usual", {"--threads", "1"}));
    DOCTEST_CHECK(read_json(folder / "usual/config.resolved.json")["options"]["--steps"] == 300);
    const ProgramResult one = succeeded(train("one", {"--threads", "1", "--epochs", "10"}));
    DOCTEST_CHECK(holds(one.err, "55 bins to learn from, 20 for validation"));
    const Json options = read_json(folder / "one/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--architecture"] == "bigbird-bins");
    DOCTEST_CHECK(options["--steps"] == 9);
    DOCTEST_CHECK(options["--patience"] == 3);
    DOCTEST_CHECK(options["--batch-size"] == 8);
    DOCTEST_CHECK(options["--schedule"] == "cosine");
    DOCTEST_CHECK(options["--positive-weight"] == 1);
    succeeded(train("two", {"--threads", "2", "--processes", "2", "--epochs", "10"}));
    DOCTEST_CHECK(values_of(folder / "two").back() ==
                  doctest::Approx(values_of(folder / "one").back()).epsilon(1e-4));
    DOCTEST_CHECK(train("cut", {"--threads", "1", "--epochs", "10", "--max-hours", "1e-9"}).code == 75);
    succeeded(train("cut", {"--threads", "1", "--epochs", "10"}));
    DOCTEST_CHECK(weights_of(folder / "cut") == weights_of(folder / "one"));
    DOCTEST_CHECK(holds(train("one", {"--epochs", "10", "--positive-weight", "5"}).err, "--positive-weight"));
    check_holds(succeeded(train("one", {"--threads", "1", "--epochs", "20"})).err,
                {"kept is the step with the lowest loss on validation",
                 "--steps is 18 now, it was 9: training goes on from step 4"});
    const std::vector<std::string> long_steps{"--threads",    "1",    "--steps",          "4",
                                              "--batch-size", "6000", "--evaluate-every", "1"};
    succeeded(train("long", long_steps));
    const ProgramResult stopped =
        train("stopped", long_steps, {.signal = SIGINT, .once_said = "step 1: eval_loss", .twice = true});
    check_said(stopped, 130, "written; the same command goes on from it");
    DOCTEST_CHECK_FALSE(stopped.by_signal);
    succeeded(train("stopped", long_steps));
    DOCTEST_CHECK(weights_of(folder / "stopped") == weights_of(folder / "long"));

    works({"predict-chromatin", "--model", at("long"), "--examples", at("examples"), "--split", "train",
           "--device", "cpu", "--output", at("teacher.npy")});
    const std::vector<std::string> taught{"--threads", "1", "--epochs", "10", "--teacher", at("teacher.npy")};
    succeeded(train("taught", taught));
    DOCTEST_CHECK(weights_of(folder / "taught") != weights_of(folder / "one"));
    DOCTEST_CHECK(train("taught-cut", joined(taught, {"--max-hours", "1e-9"})).code == 75);
    succeeded(train("taught-cut", taught));
    DOCTEST_CHECK(weights_of(folder / "taught-cut") == weights_of(folder / "taught"));

    write_file(folder / "c.fa", ">c\n" + BinGenome(100, 1).dna + "\n");
    write_file(folder / "c.bed", "c\t0\t2000\n");
    const auto predict = [&](const std::string& output, std::vector<std::string> more) {
        return run_program(joined({"predict-chromatin", "--model", at("one"), "--reference", at("c.fa"),
                                   "--device", "cpu", "--output", at(output), "--threads", "1", "--regions"},
                                  more));
    };
    succeeded(predict("tiles.tsv", {at("c.bed"), "--tile", "20"}));
    write_file(folder / "some.bed", "c\t1000\t1020\nc\t20\t40\n");
    succeeded(predict("some.tsv", {at("some.bed")}));
    const std::string tiles = read_file(folder / "tiles.tsv"), some = read_file(folder / "some.tsv");
    for (const char* row : {"\nc\t1000\t1020\t", "\nc\t20\t40\t"}) {
        const auto line = [&](const std::string& text) {
            const std::size_t begin = text.find(row);
            return text.substr(begin, text.find('\n', begin + 1) - begin);
        };
        DOCTEST_CHECK(line(tiles) == line(some));
    }
    DOCTEST_CHECK(holds(tiles, "\tall_n\t"));
    const std::string ref = BinGenome(100, 1).dna.substr(1000, 1), alt = ref == "A" ? "C" : "A";
    write_file(folder / "v.vcf",
               "##fileformat=VCFv4.2\n##contig=<ID=c>\n"
               "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nc\t1001\t.\t" +
                   ref + "\t" + alt + "\t.\t.\t.\n");
    works({"predict-variants", "--model", at("one"), "--reference", at("c.fa"), "--variants", at("v.vcf"),
           "--output", at("v.tsv"), "--device", "cpu"});
    DOCTEST_CHECK(holds(read_file(folder / "v.tsv"), "\nc\t1001\t.\t" + ref + "\t" + alt + "\tok\t"));
    works({"embed", "--model", at("one"), "--sequences", at("c.fa"), "--output", at("e.tsv"), "--device",
           "cpu"});
    DOCTEST_CHECK(holds(read_file(folder / "e.tsv"), "\td15\n"));
    works({"info", at("one/model")});
}

DOCTEST_TEST_CASE(
    "finetune: a head of bins on a pretrained model trains on two processes, goes on, predicts") {
    const TempDir folder;
    const auto at = [&](const std::string& name) { return (folder / name).string(); };
    write_bin_examples(folder / "examples", 100, 1);
    write_tiny_pretrained(folder / "pretrained", 1);
    const auto train = [&](const std::string& run, std::vector<std::string> more) {
        return run_program(joined(
            {"finetune-chromatin", "--head", "bins", "--model", at("pretrained"), "--examples",
             at("examples"), "--steps", "6", "--window", "160", "--device", "cpu", "--output", at(run)},
            more));
    };
    const ProgramResult one = succeeded(train("one", {"--threads", "1"}));
    DOCTEST_CHECK(holds(one.err, "6 steps of 8 windows of 8 bins"));
    succeeded(train("two", {"--threads", "2", "--processes", "2"}));
    DOCTEST_CHECK(train("cut", {"--threads", "1", "--max-hours", "1e-9"}).code == 75);
    succeeded(train("cut", {"--threads", "1"}));
    DOCTEST_CHECK(weights_of(folder / "cut") == weights_of(folder / "one"));
    succeeded(train("random", {"--random-weights", "--threads", "1"}));
    DOCTEST_CHECK(weights_of(folder / "random") != weights_of(folder / "one"));

    write_file(folder / "c.fa", ">c\n" + BinGenome(100, 1).dna + "\n");
    write_file(folder / "c.bed", "c\t0\t2000\n");
    works({"predict-chromatin", "--model", at("one"), "--reference", at("c.fa"), "--regions", at("c.bed"),
           "--tile", "20", "--reverse-complement", "average", "--device", "cpu", "--output",
           at("tiles.tsv")});
    DOCTEST_CHECK(holds(read_file(folder / "tiles.tsv"), "\tall_n\t"));
    works({"embed", "--model", at("one"), "--sequences", at("c.fa"), "--output", at("e.tsv"), "--device",
           "cpu"});  // by its tokens
    DOCTEST_CHECK(run_program({"finetune-promoter", "--head", "bins", "--model", at("pretrained"),
                               "--examples", at("examples"), "--output", at("p")})
                      .code == 2);
}
