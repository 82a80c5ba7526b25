// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/json_file.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

using namespace bigbird;
using bigbird::testing::ProgramResult;
using bigbird::testing::run_program;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Four documents of real sentences.
std::string documents_in(const TempDir& folder) {
    std::istringstream lines(testing::read_file(test_data("tokenizer/sentences.txt")));
    std::string text;
    int number = 0;
    for (std::string line; std::getline(lines, line) && number < 20; ++number) {
        text += line + "\n" + (number % 5 == 4 ? "\n" : "");
    }
    testing::write_file(folder / "documents.txt", text);
    return (folder / "documents.txt").string();
}

std::vector<std::string> pretrain(const std::string& documents, const fs::path& run,
                                  const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"pretrain",
                                       "--documents",
                                       documents,
                                       "--tokenizer",
                                       test_data("tokenizer/small.model").string(),
                                       "--config",
                                       "tiny",
                                       "--steps",
                                       "3",
                                       "--batch-size",
                                       "2",
                                       "--sequence-length",
                                       "64",
                                       "--device",
                                       "cpu",
                                       "--threads",
                                       "1",
                                       "--output",
                                       run.string()};
    for (std::size_t i = 0; i < more.size(); ++i) {  // an option may be given once
        const auto given = std::find(arguments.begin(), arguments.end(), more[i]);
        if (more[i].starts_with("--") && given != arguments.end()) {
            arguments.erase(given, given + 2);
        }
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace

DOCTEST_TEST_CASE(
    "pretrain: a run that --max-hours stops ends with 75, goes on, and equals one in a single go") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const ProgramResult whole = run_program(pretrain(documents, folder / "whole"));
    DOCTEST_REQUIRE(whole.code == 0);
    DOCTEST_CHECK(whole.out.empty());
    const ProgramResult stopped = run_program(pretrain(documents, folder / "run", {"--max-hours", "1e-9"}));
    DOCTEST_CHECK(stopped.code == 75);
    DOCTEST_CHECK(contains(stopped.err, "checkpoint of step 1 written; the same command goes on from it"));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "run/model"));
    fs::create_directories(folder / "run/model");  // as a workflow engine does
    const ProgramResult rest = run_program(pretrain(documents, folder / "run"));
    DOCTEST_CHECK(rest.code == 0);
    DOCTEST_CHECK(contains(rest.err, "resuming after step 1 of 3"));
    DOCTEST_CHECK(testing::read_file(folder / "run/model/model.safetensors") ==
                  testing::read_file(folder / "whole/model/model.safetensors"));
    const ProgramResult again = run_program(pretrain(documents, folder / "run"));
    DOCTEST_CHECK(again.code == 0);
    DOCTEST_CHECK(contains(again.err, "this run is finished already; nothing to do"));
    const ProgramResult other = run_program(pretrain(documents, folder / "run", {"--seed", "2"}));
    DOCTEST_CHECK(other.code == 2);
    DOCTEST_CHECK(contains(other.err, "error: --"));
    DOCTEST_CHECK(contains(
        other.err, "; use the same, give another --output, or start afresh with --resume never --force"));
    DOCTEST_CHECK(run_program(pretrain(documents, folder / "run", {"--resume", "never"})).code == 2);
    DOCTEST_CHECK(
        run_program(pretrain(documents, folder / "run", {"--resume", "never", "--force", "--seed", "2"}))
            .code == 0);

    const std::vector<std::string> evaluate{"evaluate-mlm",
                                            "--model",
                                            (folder / "run").string(),
                                            "--documents",
                                            documents,
                                            "--baseline-documents",
                                            documents,
                                            "--baseline-orders",
                                            "0,2",
                                            "--device",
                                            "cpu",
                                            "--output",
                                            (folder / "mlm.json").string()};
    DOCTEST_REQUIRE(run_program(evaluate).code == 0);
    const Json report = read_json(folder / "mlm.json");
    DOCTEST_CHECK(report["bits_per_character"].get<double>() > 1);
    DOCTEST_CHECK(report["options"]["--sequence-length"] == 64);
    DOCTEST_CHECK(report["markov_order_2"].get<double>() < 2);
    DOCTEST_CHECK(run_program(evaluate).code == 2);  // exists
}

DOCTEST_TEST_CASE("pretrain: documents are drawn from a genome where none are given") {
    const TempDir folder;
    const std::vector<std::string> arguments{"pretrain",
                                             "--reference",
                                             test_data("genome/multi.fa").string(),
                                             "--tokenizer",
                                             test_data("tokenizer/small.model").string(),
                                             "--config",
                                             "tiny",
                                             "--steps",
                                             "1",
                                             "--batch-size",
                                             "2",
                                             "--sequence-length",
                                             "64",
                                             "--device",
                                             "cpu",
                                             "--passes",
                                             "2",
                                             "--sentence-length",
                                             "100:200",
                                             "--sentences",
                                             "2:4",
                                             "--start-offset",
                                             "0:10",
                                             "--output",
                                             (folder / "run").string()};
    const ProgramResult result = run_program(arguments);
    DOCTEST_INFO(result.err);
    DOCTEST_CHECK(result.code == 0);
    const Json options = read_json(folder / "run/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--passes"] == 2);
    DOCTEST_CHECK(options["--sentences"] == "2:4");
    DOCTEST_CHECK(options["--reference"][0]["sha256"].get<std::string>().size() == 64);
}

DOCTEST_TEST_CASE("pretrain: what is wrong is one sentence and its exit code, and no run is left behind") {
    const TempDir folder;
    const std::string documents = documents_in(folder), run = (folder / "run").string();
    const auto error_of = [&](const std::vector<std::string>& arguments, int code) {
        const ProgramResult result = run_program(arguments);
        DOCTEST_CHECK(result.code == code);
        DOCTEST_CHECK_FALSE(fs::exists(run));
        return result.err;
    };
    const std::string none = (folder / "none.txt").string();
    DOCTEST_CHECK(error_of(pretrain(none, run), 3) == "bigbird-dna: error: " + none + ": no such file\n");
    DOCTEST_CHECK(contains(error_of(pretrain(documents, run, {"--sequence-length", "5000"}), 2),
                           "--sequence-length 5000 is longer than the 4096 positions of the network"));
    DOCTEST_CHECK(contains(error_of(pretrain(documents, run, {"--config", "huge"}), 2), "tiny"));
    DOCTEST_CHECK(contains(error_of(pretrain(documents, run, {"--warmup-steps", "9"}), 2), "--warmup-steps"));
    testing::write_file(folder / "one.txt", "ACGTACGTACGTACGTACGTACGT\n");
    DOCTEST_CHECK(contains(error_of(pretrain((folder / "one.txt").string(), run), 3), "next-sentence"));
    DOCTEST_CHECK(contains(
        error_of({"pretrain", "--tokenizer", test_data("tokenizer/small.model").string(), "--output", run},
                 2),
        "--documents FILE is needed, or --reference FASTA to draw documents from"));
}

DOCTEST_TEST_CASE("evaluate-mlm: what is no model is said") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const ProgramResult result =
        run_program({"evaluate-mlm", "--model", folder.path().string(), "--documents", documents, "--output",
                     (folder / "out.json").string()});
    DOCTEST_CHECK(result.code == 3);
    DOCTEST_CHECK(
        contains(result.err, "is no model folder: it holds no config.json, model/ or checkpoints/"));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "out.json"));
}
