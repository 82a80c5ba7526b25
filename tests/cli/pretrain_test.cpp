// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

using namespace bigbird;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

/// Four documents of real sentences.
std::string documents_in(const TempDir& folder) {
    testing::write_file(folder / "documents.txt", real_documents());
    return (folder / "documents.txt").string();
}

/// Processes that have the folder among their arguments.
int running_on(const fs::path& folder) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        std::ifstream in(entry.path() / "cmdline");  // it may have ended meanwhile
        std::string words;
        std::getline(in, words, '\n');
        count += holds(words, folder.string()) ? 1 : 0;
    }
    return count;
}

std::vector<std::string> pretrain(const std::string& documents, const fs::path& run,
                                  const std::vector<std::string>& more = {}) {
    auto arguments = joined(
        words_of(
            "pretrain --config tiny --steps 3 --batch-size 2 --sequence-length 64 --device cpu --threads 1"),
        {"--documents", documents, "--tokenizer", test_data("tokenizer/small.model"), "--output", run});
    for (std::size_t i = 0; i < more.size(); ++i) {  // an option may be given once
        const auto given = std::find(arguments.begin(), arguments.end(), more[i]);
        if (more[i].starts_with("--") && given != arguments.end()) arguments.erase(given, given + 2);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace

DOCTEST_TEST_CASE(
    "pretrain: --attention chooses the code that attends, and changes sums in their last bits") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const auto losses_by = [&](const std::string& attention) {
        works(pretrain(documents, folder / attention, {"--steps", "2", "--attention", attention}));
        return values_of(folder / attention);
    };
    const std::vector<double> usual = losses_by("automatic");
    for (const char* attention : {"blocked", "reference"}) {
        const std::vector<double> losses = losses_by(attention);
        DOCTEST_REQUIRE(losses.size() == 2);
        DOCTEST_CHECK(losses[0] == doctest::Approx(usual[0]).epsilon(1e-4));
        DOCTEST_CHECK(losses[1] == doctest::Approx(usual[1]).epsilon(1e-4));
    }
    check_said(run_program(pretrain(documents, folder / "hopper", {"--attention", "fused-hopper"})), 2,
               "fused-hopper is for GPUs of compute capability 9.0: choose fused");
}

DOCTEST_TEST_CASE(
    "pretrain: a run that --max-hours stops ends with 75, goes on, and equals one in a single go") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const ProgramResult whole = works(pretrain(documents, folder / "whole"));
    DOCTEST_CHECK(whole.out.empty());
    check_said(run_program(pretrain(documents, folder / "run", {"--max-hours", "1e-9"})), 75,
               "checkpoint of step 1 written; the same command goes on from it");
    DOCTEST_CHECK_FALSE(fs::exists(folder / "run/model"));
    fs::create_directories(folder / "run/model");  // as a workflow engine does
    const ProgramResult rest = works(pretrain(documents, folder / "run"));
    DOCTEST_CHECK(holds(rest.err, "resuming after step 1 of 3"));
    DOCTEST_CHECK(weights_of(folder / "run") == weights_of(folder / "whole"));
    const ProgramResult again = works(pretrain(documents, folder / "run"));
    DOCTEST_CHECK(holds(again.err, "this run is finished already; nothing to do"));
    const ProgramResult other = run_program(pretrain(documents, folder / "run", {"--seed", "2"}));
    check_said(other, 2, "error: --");
    DOCTEST_CHECK(holds(other.err, "; use the same, give another --output, or start afresh with --force"));
    works(pretrain(documents, folder / "run", {"--force", "--seed", "2"}));

    const auto evaluate = joined(words_of("evaluate-mlm --device cpu"),
                                 {"--model", folder / "run", "--documents", documents, "--baseline-documents",
                                  documents, "--output", folder / "mlm.json"});
    const ProgramResult evaluated = works(evaluate);
    DOCTEST_CHECK(holds(evaluated.err, documents + " is what the model learned from"));
    const Json report = read_json(folder / "mlm.json");
    DOCTEST_CHECK(report["bits_per_character"].get<double>() > 1);
    DOCTEST_CHECK(report["options"]["--sequence-length"] == 64);
    DOCTEST_CHECK(report["markov_order_2"].get<double>() < 2);
    DOCTEST_CHECK(run_program(evaluate).code == 2);  // exists
    auto tokens = joined(evaluate, {"--force", "--token-scores", folder / "tokens.tsv"});
    works(tokens);
    const std::string table = testing::read_file(folder / "tokens.tsv");
    DOCTEST_CHECK(std::ranges::count(table, '\n') == 1 + report["masked_tokens"].get<std::int64_t>());
    tokens.erase(std::ranges::find(tokens, "--force"));
    tokens.back() = (folder / "other.json").string();
    DOCTEST_CHECK(run_program(tokens).code == 2);  // the report exists
}

DOCTEST_TEST_CASE("pretrain: two processes train as one, stop together and go on as one") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const auto losses = [&](const char* run) { return values_of(folder / run); };
    works(pretrain(documents, folder / "one"));
    const ProgramResult two = works(pretrain(documents, folder / "two", {"--processes", "2"}));
    const std::vector<double> one = losses("one"), both = losses("two");
    DOCTEST_REQUIRE(both.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
        DOCTEST_CHECK(both[i] == doctest::Approx(one[i]).epsilon(2e-5));
    DOCTEST_CHECK(
        run_program(pretrain(documents, folder / "half", {"--processes", "2", "--max-hours", "1e-9"})).code ==
        75);
    const ProgramResult rest = works(pretrain(documents, folder / "half", {"--checkpoint-every", "1"}));
    DOCTEST_CHECK(holds(rest.err, "--checkpoint-every is 1 now, it was 1000"));
    DOCTEST_CHECK(losses("half").back() == doctest::Approx(one.back()).epsilon(2e-5));
    check_said(run_program(pretrain((folder / "none").string(), folder / "wrong", {"--processes", "2"})), 3,
               "none: no such file");
    check_said(run_program(pretrain(documents, folder / "few", {"--processes", "3"})), 2,
               "--batch-size 2 leaves some of the 3 processes without a sequence");
}

DOCTEST_TEST_CASE(
    "pretrain: a signal while two processes start ends them with its exit code, and the run goes on") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const auto arguments = pretrain(documents, folder / "run", {"--processes", "2"});
    for (const int milliseconds : {0, 20, 50, 100, 200, 300, 450, 600}) {
        const int signal = milliseconds % 100 == 50 ? SIGINT : SIGTERM;
        DOCTEST_CAPTURE(milliseconds);
        const ProgramResult stopped =
            run_program(arguments, {},
                        {.signal = signal, .once_said = {}, .once_filled = {}, .milliseconds = milliseconds});
        DOCTEST_CAPTURE(stopped.err);
        DOCTEST_CHECK_FALSE(stopped.by_signal);
        DOCTEST_CHECK((stopped.code == 128 + signal || stopped.code == 0));  // 0: a fast machine was done
        DOCTEST_CHECK(running_on(folder / "run") == 0);
    }
    works(arguments);
}

DOCTEST_TEST_CASE("pretrain: of all threads, those of libraries too, one alone takes signals") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const ProgramResult stopped =
        run_program(pretrain(documents, folder / "run",
                             {"--steps", "100000", "--threads", "2", "--evaluate-documents", documents,
                              "--evaluate-every", "20"}),
                    {}, {.signal = SIGTERM, .once_said = "step 20: eval_loss", .once_filled = {}});
    DOCTEST_INFO(stopped.err);
    DOCTEST_CHECK(stopped.code == 143);
    DOCTEST_CHECK(stopped.threads >= 3);       // with the one that prepares batches and one of OpenMP's
    DOCTEST_CHECK(stopped.open_threads <= 1);  // the one that does nothing else
}

DOCTEST_TEST_CASE("pretrain: tiny-modern has its own defaults, trains on two processes, goes on, is scored") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const auto modern = [&](const char* run, std::vector<std::string> more = {}) {
        more.insert(more.end(), {"--config", "tiny-modern"});
        return run_program(pretrain(documents, folder / run, more));
    };
    const ProgramResult one = succeeded(modern("one"));
    const Json options = read_json(folder / "one/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--optimizer"] == "muon");
    DOCTEST_CHECK(options["--learning-rate"] == 4e-3);
    DOCTEST_CHECK(options["--betas"] == Json({0.9, 0.98}));
    DOCTEST_CHECK(options["--epsilon"] == 1e-8);
    DOCTEST_CHECK(options["--config"]["hidden_dropout_prob"] == 0);
    DOCTEST_CHECK(read_json(folder / "one/model/config.json")["model_type"] == "bigbird_dna");
    succeeded(modern("two", {"--processes", "2"}));
    DOCTEST_CHECK(values_of(folder / "two").back() ==
                  doctest::Approx(values_of(folder / "one").back()).epsilon(2e-5));
    DOCTEST_CHECK(modern("cut", {"--max-hours", "1e-9"}).code == 75);
    succeeded(modern("cut"));
    DOCTEST_CHECK(weights_of(folder / "cut") == weights_of(folder / "one"));
    succeeded(modern("given", {"--optimizer", "adamw", "--betas", "0.9", "0.999", "--dropout", "0.1"}));
    const Json given = read_json(folder / "given/config.resolved.json")["options"];
    DOCTEST_CHECK_FALSE(given.contains("--optimizer"));  // the usual one
    DOCTEST_CHECK_FALSE(given.contains("--betas"));      // the usual ones
    DOCTEST_CHECK(given["--config"]["hidden_dropout_prob"] == 0.1);
    works({"evaluate-mlm", "--model", folder / "one", "--documents", documents, "--baseline-documents",
           documents, "--device", "cpu", "--output", folder / "mlm.json"});
    DOCTEST_CHECK(read_json(folder / "mlm.json").contains("two_sided_6"));
}

DOCTEST_TEST_CASE("pretrain: --optimizer muon is recorded, asked for again, and another than AdamW") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const std::vector<std::string> muon{"--optimizer", "muon"};
    DOCTEST_CHECK(
        run_program(pretrain(documents, folder / "muon", joined(muon, {"--max-hours", "1e-9"}))).code == 75);
    check_said(run_program(pretrain(documents, folder / "muon")), 2, "--optimizer");
    works(pretrain(documents, folder / "muon", muon));
    DOCTEST_CHECK(read_json(folder / "muon/config.resolved.json")["options"]["--optimizer"] == "muon");
    works(pretrain(documents, folder / "adamw"));
    DOCTEST_CHECK_FALSE(read_json(folder / "adamw/config.resolved.json")["options"].contains("--optimizer"));
    DOCTEST_CHECK(values_of(folder / "adamw").back() != values_of(folder / "muon").back());
}

DOCTEST_TEST_CASE("pretrain: --model goes on with a model's weights, in longer contexts too") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const std::string first = folder / "first";
    works(pretrain(documents, first, {"--config", "tiny-modern"}));
    const auto from_first = [&](const char* run, const std::vector<std::string>& more) {
        std::vector<std::string> arguments = pretrain(documents, folder / run, more);
        for (const char* option : {"--tokenizer", "--config"}) {  // the model has its own
            if (std::find(more.begin(), more.end(), option) != more.end()) continue;
            const auto at = std::find(arguments.begin(), arguments.end(), option);
            arguments.erase(at, at + 2);
        }
        arguments.insert(arguments.end(), {"--model", first});
        return run_program(arguments);
    };
    const auto config_with = [&](const Json& changes) {
        Json json = read_json(folder / "first/model/config.json");
        json.update(changes);
        testing::write_file(folder / "config.json", json.dump());
        return (folder / "config.json").string();
    };
    const ProgramResult same = succeeded(from_first("same", {}));
    DOCTEST_CHECK(holds(same.err, "first/model: the weights that this run starts from"));
    const Json options = read_json(folder / "same/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--model"]["sha256"].get<std::string>().size() == 64);
    DOCTEST_CHECK(options["--config"]["hidden_dropout_prob"] == 0);
    const std::string longer = config_with(
        {{"max_position_embeddings", 8192}, {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}}});
    succeeded(from_first("longer",
                         {"--config", longer, "--sequence-length", "4200", "--steps", "1", "--nsp", "off"}));
    DOCTEST_CHECK(read_json(folder / "longer/model/config.json")["rope_scaling"]["factor"] == 2);
    const ProgramResult wider = from_first("wider", {"--config", config_with({{"intermediate_size", 256}})});
    check_said(wider, 2, "--config: intermediate_size is 256, but the weights of --model are for 512");
    const ProgramResult yarn =
        from_first("yarn", {"--config", config_with({{"rope_scaling", {{"rope_type", "yarn"}}}})});
    check_said(yarn, 3, "key 'rope_type' must be default, linear or ntk, not \"yarn\"");
    const ProgramResult other =
        from_first("other", {"--tokenizer", test_data("tokenizer/hf/gena_like.json")});
    check_said(other, 2, "the tokenizer is not that of --model");
    for (const char* run : {"wider", "yarn", "other"})
        DOCTEST_CHECK_FALSE(fs::exists(folder / run));
}

DOCTEST_TEST_CASE("pretrain: token shards give the run that their documents give") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const std::string tokenizer = test_data("tokenizer/small.model");
    works({"tokenize", "--documents", documents, "--tokenizer", tokenizer, "--output", folder / "corpus"});
    works(pretrain(documents, folder / "documents"));
    std::vector<std::string> arguments = pretrain(documents, folder / "shards");
    const auto at = std::find(arguments.begin(), arguments.end(), "--documents");
    arguments.erase(at, at + 4);  // and --tokenizer
    arguments.insert(arguments.end(),
                     {"--documents", folder / "corpus", "--evaluate-documents", folder / "corpus"});
    const ProgramResult result = works(arguments);
    DOCTEST_CHECK(holds(result.err, "eval_bits_per_character"));
    DOCTEST_CHECK(weights_of(folder / "shards") == weights_of(folder / "documents"));
    const auto report = [&](const std::string& input) {
        const std::string output = input + ".json";
        works({"evaluate-mlm", "--model", folder / "shards", "--documents", input, "--device", "cpu",
               "--threads", "1", "--output", output});
        return testing::read_file(output);
    };
    DOCTEST_CHECK(report((folder / "corpus").string()) == report(documents));
    check_said(run_program({"evaluate-mlm", "--model", folder / "shards", "--output", "-"}), 2,
               "--documents is needed");
}

DOCTEST_TEST_CASE("pretrain: without --config a CPU trains tiny-modern, ten times the corpus") {
    const TempDir folder;
    const ProgramResult plan = works({"pretrain", "--documents", documents_in(folder), "--tokenizer",
                                      test_data("tokenizer/small.model"), "--device", "cpu", "--dry-run"});
    DOCTEST_CHECK(holds(plan.err, "--config tiny-modern"));
    DOCTEST_CHECK(holds(plan.out, "steps of 8 sequences of 512 tokens: the corpus 10."));
    DOCTEST_CHECK_FALSE(holds(plan.out, "note "));
    const ProgramResult often =
        works({"pretrain", "--documents", documents_in(folder), "--tokenizer",
               test_data("tokenizer/small.model"), "--device", "cpu", "--dry-run", "--epochs", "100"});
    check_holds(often.out,
                {"note  ", "tokens is read 101 times, and after about 40 times a network learns little but"});
}

DOCTEST_TEST_CASE("pretrain: a run of more than three days on a CPU is started only where it is asked for") {
    const TempDir folder;
    auto run = joined(words_of("pretrain --config tiny --steps 1000000000 --device cpu"),
                      {"--documents", documents_in(folder), "--tokenizer", test_data("tokenizer/small.model"),
                       "--output", folder / "run"});
    check_said(run_program(run), 2, "days on this CPU: choose a smaller --config");
    DOCTEST_CHECK_FALSE(fs::exists(folder / "run/checkpoints"));
    run.insert(run.end(), {"--max-hours", "0.0001"});
    check_said(run_program(run), 75, "projected time: ");
}

DOCTEST_TEST_CASE(
    "pretrain: a step that takes minutes is stopped within seconds, and resumed as if never begun") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    const auto run = [&](const std::string& output, const std::string& batch, const std::string& steps) {
        return words_of("pretrain --config tiny --device cpu --max-hours 100 --evaluate-every 1 --steps " +
                        steps + " --batch-size " + batch + " --documents " + documents +
                        " --evaluate-documents " + documents + " --output " + (folder / output).string() +
                        " --tokenizer " + test_data("tokenizer/small.model").string());
    };
    const auto start = std::chrono::steady_clock::now();
    const ProgramResult stopped =
        run_program(run("long", "4000", "2"), "",
                    {.signal = SIGTERM, .once_said = "projected time", .milliseconds = 3000});
    check_said(stopped, 143, "the same signal again ends at once");
    DOCTEST_CHECK(holds(stopped.err, "stopped within the first step; the same command starts afresh"));
    DOCTEST_CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "long/checkpoints"));
    const ProgramResult cut = run_program(
        run("cut", "200", "4"), "", {.signal = SIGINT, .once_said = "step 1: eval_loss", .milliseconds = 10});
    check_said(cut, 130, "written; the same command goes on from it");
    works(run("cut", "200", "4"));
    works(run("whole", "200", "4"));
    DOCTEST_CHECK(weights_of(folder / "cut") == weights_of(folder / "whole"));
}

DOCTEST_TEST_CASE("pretrain: --dry-run says what to expect and leaves nothing behind") {
    const TempDir folder;
    const ProgramResult result = works(pretrain(documents_in(folder), folder / "run", {"--dry-run"}));
    for (const char* word :
         {"parameters", "operations a token", "memory, counted", "the corpus", "time, projected"})
        DOCTEST_CHECK(holds(result.out, word));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "run"));
}

DOCTEST_TEST_CASE("pretrain: options from a YAML file, the command line goes before") {
    const TempDir folder;
    testing::write_file(
        folder / "run.yaml",
        "documents: " + documents_in(folder) + "\ntokenizer: " + test_data("tokenizer/small.model").string() +
            "\nconfig: tiny\nsteps: 7  # the paper has more\nbatch-size: 2\n--sequence-length: 64\n"
            "nsp: false\nforce: false\ndevice: cpu\n");
    const std::string file = folder / "run.yaml";
    works({"pretrain", "--options", file, "--steps", "1", "--output", folder / "run"});
    const Json options = read_json(folder / "run/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--steps"] == 1);
    DOCTEST_CHECK(options["--nsp"] == "off");
    testing::write_file(folder / "bad.json", "{\"steps\": {\"a\": 1}}");
    check_said(run_program({"pretrain", "--options", folder / "bad.json"}), 3,
               "bad.json:1: the value of '--steps' is neither a value nor a list of values");
    testing::write_file(folder / "unknown.json", "{\"stepz\": 1}");
    check_said(run_program({"pretrain", "--options", folder / "unknown.json", "--output", folder / "other"}),
               2, "--stepz");
    testing::write_file(folder / "misfit.yaml", "config: false\n");
    check_said(run_program({"pretrain", "--options", folder / "misfit.yaml", "--steps", "true", "--output",
                            folder / "other"}),
               2, "--steps");
}

DOCTEST_TEST_CASE("pretrain: documents are drawn from a genome where none are given") {
    const TempDir folder;
    const auto arguments =
        joined(words_of("pretrain --config tiny --steps 1 --batch-size 2 --sequence-length 64 --device cpu "
                        "--include 22:17000001-17200000"),
               {"--reference", test_data("genome/22.fa.gz"), "--tokenizer",
                test_data("tokenizer/small.model"), "--output", folder / "run"});
    works(arguments);
    const Json options = read_json(folder / "run/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--passes"] == 10);
    DOCTEST_CHECK(options["--sentences"] == "50:100");
    DOCTEST_CHECK(options["--reference"][0]["sha256"].get<std::string>().size() == 64);
    std::vector<std::string> held_out = arguments;
    held_out.back() = (folder / "held_out").string();
    held_out.insert(held_out.end(), {"--hold-out", "none:1-100"});
    check_said(run_program(held_out), 2, "--hold-out 'none:1-100' is neither a contig or region");
    held_out.back() = "22:17100001-17200000";
    const ProgramResult with = works(held_out);
    DOCTEST_CHECK(holds(with.err, "step 1: eval_loss"));
    std::vector<std::string> together = held_out;
    *std::find(together.begin(), together.end(), (folder / "held_out").string()) = (folder / "two").string();
    together.insert(together.end(), {"--processes", "2"});
    const ProgramResult two = works(together);
    const std::vector<double> one_process = values_of(folder / "held_out"),
                              two_processes = values_of(folder / "two");
    DOCTEST_REQUIRE(two_processes.size() == 1);
    DOCTEST_CHECK(two_processes[0] == doctest::Approx(one_process[0]).epsilon(2e-5));
}

DOCTEST_TEST_CASE("pretrain: what is wrong is one sentence and its exit code, and no run is left behind") {
    const TempDir folder;
    const std::string documents = documents_in(folder), run = folder / "run";
    const auto error_of = [&](const std::vector<std::string>& arguments, int code) {
        const ProgramResult result = run_program(arguments);
        DOCTEST_CHECK(result.code == code);
        DOCTEST_CHECK_FALSE(fs::exists(run));
        return result.err;
    };
    const std::string none = folder / "none.txt";
    DOCTEST_CHECK(error_of(pretrain(none, run), 3) == "bigbird-dna: error: " + none + ": no such file\n");
    DOCTEST_CHECK(holds(error_of(pretrain(documents, run, {"--sequence-length", "5000"}), 2),
                        "--sequence-length 5000 is longer than the 4096 positions of the network"));
    DOCTEST_CHECK(holds(error_of(pretrain(documents, run, {"--config", "huge"}), 2), "tiny"));
    DOCTEST_CHECK(holds(error_of(pretrain(documents, run, {"--warmup-steps", "9"}), 2), "--warmup-steps"));
    testing::write_file(folder / "one.txt", "ACGTACGTACGTACGTACGTACGT\n");
    DOCTEST_CHECK(holds(error_of(pretrain((folder / "one.txt").string(), run), 3), "next-sentence"));
    DOCTEST_CHECK(
        holds(error_of({"pretrain", "--tokenizer", test_data("tokenizer/small.model"), "--output", run}, 2),
              "--documents is needed, or --reference FASTA to draw documents from"));
}

DOCTEST_TEST_CASE("evaluate-mlm: what is no model is said") {
    const TempDir folder;
    const std::string documents = documents_in(folder);
    check_said(run_program({"evaluate-mlm", "--model", folder.path().string(), "--documents", documents,
                            "--output", folder / "out.json"}),
               3, "is no model folder: it holds no config.json, model/ or checkpoints/");
    DOCTEST_CHECK_FALSE(fs::exists(folder / "out.json"));
}
