// SPDX-License-Identifier: Apache-2.0
// finetune-*: several processes, and every architecture through training, prediction and evaluation.
#include "cli/run_program.hpp"
#include "scoring/tiny_task.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/json_file.hpp"

#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Fixture {
public:
    Fixture() {
        write_motif_examples(folder_ / "examples", 120, 3);
        write_tiny_pretrained(folder_ / "pretrained", 1);
    }
    std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
    ProgramResult finetune(const std::string& run, const std::vector<std::string>& more) const {
        std::vector<std::string> words{
            "finetune-chromatin", "--examples", *this / "examples", "--output", *this / run,
            "--batch-size",       "6",          "--device",         "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }
    std::vector<double> losses(const std::string& run) const {
        std::istringstream in(read_file(folder_ / run / "metrics.jsonl"));
        std::vector<double> all;
        for (std::string line; std::getline(in, line);) {
            const Json json = Json::parse(line);
            if (json.contains("loss")) all.push_back(json["loss"].get<double>());
            if (json.contains("eval_loss")) all.push_back(json["eval_loss"].get<double>());
        }
        return all;
    }

private:
    TempDir folder_;
};

}  // namespace

DOCTEST_TEST_CASE("finetune: two processes train as one, stop together and go on as one") {
    const Fixture fixture;
    const std::vector<std::string> words{
        "--model", fixture / "pretrained", "--steps", "4", "--threads", "2", "--dropout", "0.1"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), words.begin(), words.end());
        return more;
    };
    DOCTEST_REQUIRE(fixture.finetune("one", words).code == 0);
    const ProgramResult two = fixture.finetune("two", with({"--processes", "2"}));
    DOCTEST_INFO(two.err);
    DOCTEST_REQUIRE(two.code == 0);
    const std::vector<double> one = fixture.losses("one"), both = fixture.losses("two");
    DOCTEST_REQUIRE(one.size() == 8);  // an evaluation a step
    DOCTEST_REQUIRE(both.size() == one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        DOCTEST_CHECK(both[i] == doctest::Approx(one[i]).epsilon(2e-5));
    }
    DOCTEST_CHECK(fixture.finetune("half", with({"--processes", "2", "--max-hours", "1e-9"})).code == 75);
    DOCTEST_CHECK(fixture.finetune("half", words).code == 0);
    DOCTEST_CHECK(fixture.losses("half").back() == doctest::Approx(one.back()).epsilon(2e-5));
    const ProgramResult few = fixture.finetune("few", with({"--processes", "7"}));
    DOCTEST_CHECK(few.code == 2);
    DOCTEST_CHECK(contains(few.err, "--batch-size 6 leaves some of the 7 processes without a window"));
}

DOCTEST_TEST_CASE("finetune: --attention chooses the code that attends, there, in predict-* and in embed") {
    const Fixture fixture;
    const auto train = [&](const std::string& name, const std::string& attention) {
        return fixture.finetune(name, {"--model", fixture / "pretrained", "--steps", "2", "--threads", "1",
                                       "--attention", attention});
    };
    DOCTEST_REQUIRE(train("automatic", "automatic").code == 0);
    for (const char* attention : {"reference", "blocked"}) {
        DOCTEST_REQUIRE(train(attention, attention).code == 0);
        DOCTEST_CHECK(fixture.losses(attention).back() ==
                      doctest::Approx(fixture.losses("automatic").back()).epsilon(1e-4));
    }
    const ProgramResult refused = train("hopper", "fused-hopper");
    DOCTEST_CHECK(refused.code == 2);
    DOCTEST_CHECK(contains(refused.err, "fused-hopper is for GPUs of compute capability 9.0: choose fused"));
    write_file(fixture / "records.fa", ">one\n" + std::string(200, 'A').append(200, 'C').append("\n"));
    const auto run = [&](const char* command, const std::string& input, const std::string& attention) {
        const bool embeds = std::string(command) == "embed";
        return run_program({command, "--model", fixture / "automatic", embeds ? "--sequences" : "--examples",
                            input, "--output", fixture / (command + attention + ".tsv"), "--device", "cpu",
                            "--dtype", "fp32", "--attention", attention});
    };
    for (const char* attention : {"automatic", "blocked", "reference"}) {
        DOCTEST_CHECK(run("predict-chromatin", fixture / "examples", attention).code == 0);
        DOCTEST_CHECK(run("embed", fixture / "records.fa", attention).code == 0);
    }
    DOCTEST_CHECK(run("predict-chromatin", fixture / "examples", "fused-hopper").code == 2);
    DOCTEST_CHECK(run("embed", fixture / "records.fa", "fused-hopper").code == 2);
}

DOCTEST_TEST_CASE("finetune: every architecture is trained, described, and predicts and is evaluated") {
    const Fixture fixture;
    const std::vector<std::pair<std::string, std::vector<std::string>>> architectures{
        {"bigbird",
         {"--model", fixture / "pretrained", "--steps", "3", "--pooling", "centre", "--dtype", "bf16",
          "--positive-weight", "balanced", "--sampling", "balanced"}},
        {"cnnprom", {"--window=-60:60", "--steps", "3"}},
        {"deepromoter", {"--window=-60:60", "--steps", "3"}},
        {"deepsea", {"--window=-90:90", "--steps", "3"}},
        {"gkm-svm", {"--word", "5", "--informative", "3"}},
        {"kmer-ridge", {"--word", "4"}}};
    for (const auto& [name, more] : architectures) {
        DOCTEST_CAPTURE(name);
        std::vector<std::string> words{"--architecture", name, "--threads", "1"};
        words.insert(words.end(), more.begin(), more.end());
        const ProgramResult trained = fixture.finetune(name, words);
        DOCTEST_CAPTURE(trained.err);
        DOCTEST_REQUIRE(trained.code == 0);
        DOCTEST_CHECK(!contains(trained.err, "Warning:"));  // PyTorch's own
        const ProgramResult again = fixture.finetune(name, words);
        DOCTEST_CHECK(contains(again.err, "this run is finished already"));
        const ProgramResult scores =
            run_program({"predict-chromatin", "--model", fixture / name, "--examples", fixture / "examples",
                         "--split", "test", "--output", fixture / (name + ".tsv"), "--device", "cpu"});
        DOCTEST_CAPTURE(scores.err);
        DOCTEST_CHECK(scores.code == 0);
        const ProgramResult evaluated =
            run_program({"evaluate-chromatin", "--scores", fixture / (name + ".tsv"), "--examples",
                         fixture / "examples", "--resamples", "0", "--output", "-"});
        DOCTEST_CHECK(evaluated.code == 0);
        const ProgramResult info = run_program({"info", "--json", "--check", fixture / (name + "/model")});
        DOCTEST_CHECK(info.code == 0);
        const Json json = Json::parse(info.out);
        DOCTEST_CHECK(json["bigbird_dna"]["task_model"]["training"]["--architecture"] == name);
        DOCTEST_CHECK(json["labels"] == 2);
    }
    const ProgramResult changed =
        fixture.finetune("kmer-ridge", {"--architecture", "kmer-ridge", "--word", "5"});
    DOCTEST_CHECK(changed.code == 2);
    DOCTEST_CHECK(contains(changed.err, "--word is 5, but this run was started with 4"));
}

DOCTEST_TEST_CASE("finetune: options that do not belong together") {
    const Fixture fixture;
    const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
        const ProgramResult result = fixture.finetune("run", words);
        DOCTEST_CHECK(result.code == 2);
        DOCTEST_CHECK(result.err == "bigbird-dna: error: " + sentence + "\n");
    };
    refused({}, "--model is needed: the pretrained model to start from (--architecture bigbird)");
    refused({"--architecture", "deepsea", "--model", fixture / "pretrained"},
            "--model is for --architecture bigbird: deepsea starts from nothing");
    refused({"--architecture", "deepsea"},
            "--window -500:500 of deepsea is not inside the examples' windows, -100:100");
    refused({"--architecture", "kmer-ridge", "--window=-101:0"},
            "--window -101:0 is not inside the examples' windows, -100:100");
    refused(
        {"--architecture", "resnet"},
        "--architecture 'resnet' is not known; there are bigbird, cnnprom, deepromoter, deepsea, gkm-svm, "
        "kmer-ridge");
    refused({"--positive-weight", "-1"},
            "--positive-weight: '-1' is neither a number above 0 nor balanced; see 'bigbird-dna "
            "finetune-chromatin --help'");
    const ProgramResult embed =
        run_program({"finetune-chromatin", "--examples", fixture / "examples", "--output", fixture / "ridge",
                     "--architecture", "kmer-ridge", "--device", "cpu"});
    DOCTEST_REQUIRE(embed.code == 0);
    const ProgramResult onward = fixture.finetune("run", {"--model", fixture / "ridge"});
    DOCTEST_CHECK(onward.code == 3);
    DOCTEST_CHECK(contains(onward.err, "only 'big_bird' models can be used"));
}
