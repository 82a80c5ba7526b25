// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/run_start.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/training/toy_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::testing;
namespace fs = std::filesystem;
using bigbird::training::find_model;
using bigbird::training::RunLock;

namespace {

/// A run of eight steps that was stopped at step 6 (checkpoints 4 and 6), or is whole.
void make_run(const fs::path& run, bool whole) {
    ToyTask task;
    if (!whole) task.on_step = [](std::int64_t step) { set_stop_signal(step == 6 ? SIGTERM : 0); };
    try {
        run_training(task, toy_spec(8), run);
    } catch (const Stopped&) {
    }
    set_stop_signal(0);
}

LoopSpec spec_with(const std::string& resume, bool force = false) {
    LoopSpec spec = toy_spec(8);
    spec.run.resume = resume;
    spec.run.force = force;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("run_start: without --resume it starts afresh, goes on, or finds the run finished") {
    const TempDir folder;
    const fs::path run = folder / "run";
    DOCTEST_CHECK_FALSE(finished_run(run, spec_with("")));
    fs::create_directory(run);
    write_file(run / "notes.txt", "mine");
    DOCTEST_CHECK_FALSE(start_run(run, spec_with("")).checkpoint.has_value());
    make_run(run, false);
    DOCTEST_CHECK_FALSE(finished_run(run, spec_with("")));
    DOCTEST_CHECK(start_run(run, spec_with("")).checkpoint->step == 6);
    make_run(run, true);
    DOCTEST_CHECK(finished_run(run, spec_with(""))->model == run / "model");
    DOCTEST_CHECK(start_run(run, spec_with("")).finished);
    DOCTEST_CHECK(read_file(run / "notes.txt") == "mine");
}

DOCTEST_TEST_CASE("run_start: an option that changes the result must stay, the first that differs is named") {
    const TempDir folder;
    const fs::path run = folder / "run";
    for (const bool whole : {false, true}) {
        make_run(run, whole);
        LoopSpec spec = spec_with("");
        spec.fixed_options["--batch-size"] = 32;
        spec.free_options["--keep"] = 9;
        const std::string message = message_of<ConfigError>([&] { start_run(run, spec); });
        DOCTEST_CHECK(message ==
                      "--batch-size is 32, but this run was started with 16; use the same, give another "
                      "--output, or start "
                      "afresh with --force");
        DOCTEST_CHECK_THROWS_AS(finished_run(run, spec), ConfigError);
        spec.fixed_options["--batch-size"] = 16;
        spec.fixed_options["--documents"] = {{"sha256", "ab"}};
        DOCTEST_CHECK(holds(message_of<ConfigError>([&] { start_run(run, spec); }),
                            "--documents is {\"sha256\":\"ab\"}, but"));
    }
}

DOCTEST_TEST_CASE("run_start: more steps may bring another warm-up and other evaluations, and nothing else") {
    const TempDir folder;
    const fs::path run = folder / "run";
    make_run(run, true);
    LoopSpec spec = toy_spec(16);
    spec.fixed_options["--warmup-steps"] = 1;
    spec.fixed_options["--evaluate-every"] = 2;
    spec.fixed_options["--patience"] = 0;
    DOCTEST_CHECK_FALSE(finished_run(run, spec));
    spec.fixed_options["--batch-size"] = 32;
    DOCTEST_CHECK(
        holds(message_of<ConfigError>([&] { finished_run(run, spec); }), "--batch-size is 32, but"));
    spec.fixed_options["--batch-size"] = 16;
    const RunStart start = start_run(run, spec);
    DOCTEST_CHECK_FALSE(start.finished);
    DOCTEST_CHECK(start.checkpoint->step == 8);
    DOCTEST_CHECK_FALSE(fs::exists(run / "model"));
    DOCTEST_CHECK(CheckpointStore(run, 1).steps().back() == 8);
}

DOCTEST_TEST_CASE("run_start: of a network's configuration the entry that differs is named") {
    const TempDir folder;
    LoopSpec spec = spec_with("");
    spec.fixed_options["--config"] = {{"hidden_size", 256}, {"layers", 2}};
    ToyTask task;
    run_training(task, spec, folder / "run");
    spec.fixed_options["--config"]["hidden_size"] = 128;
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { start_run(folder / "run", spec); }),
                        "--config has hidden_size 128, but this run was started with 256; use the same"));
}

DOCTEST_TEST_CASE("run_start: --force discards a run") {
    const TempDir folder;
    const fs::path run = folder / "run";
    make_run(run, true);
    write_file(run / "notes.txt", "mine");
    LoopSpec spec = spec_with("", true);
    spec.fixed_options["--batch-size"] = 32;
    DOCTEST_CHECK_FALSE(finished_run(run, spec));
    const RunStart start = start_run(run, spec);
    DOCTEST_CHECK_FALSE(start.finished);
    DOCTEST_CHECK_FALSE(start.checkpoint.has_value());
    DOCTEST_CHECK_FALSE(fs::exists(run / "model"));
    DOCTEST_CHECK_FALSE(fs::exists(run / "metrics.jsonl"));
    DOCTEST_CHECK(CheckpointStore(run, 1).steps().empty());
    DOCTEST_CHECK(read_file(run / "notes.txt") == "mine");
}

DOCTEST_TEST_CASE("run_start: a path goes back to a checkpoint, or starts another run from it") {
    const TempDir folder;
    const fs::path run = folder / "run";
    make_run(run, false);
    const fs::path fourth = run / "checkpoints/step-00000004";
    DOCTEST_CHECK(start_run(folder / "copy", spec_with(run.string())).checkpoint->step == 6);
    DOCTEST_CHECK(start_run(folder / "copy", spec_with(fourth.string())).checkpoint->step == 4);
    DOCTEST_CHECK(CheckpointStore(run, 1).steps().size() == 2);
    DOCTEST_CHECK(start_run(run, spec_with(fourth.string())).checkpoint->step == 4);
    DOCTEST_CHECK(CheckpointStore(run, 1).steps() == std::vector<std::int64_t>{4});
    make_run(folder / "other", true);
    DOCTEST_CHECK(
        message_of<ConfigError>([&] { start_run(folder / "other", spec_with(fourth.string())); }) ==
        (folder / "other").string() +
            ": holds a run already; go on with it without --resume, give another --output, or discard "
            "it with --force");
    make_run(run, true);
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { start_run(run, spec_with(fourth.string())); }),
                        "this run is finished"));
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { finished_run(run, spec_with("latest")); }),
                        "--resume is 'latest', and there is no such folder"));
}

DOCTEST_TEST_CASE("run_lock: a second run in the same folder is refused, a later one is not") {
    const TempDir folder;
    {
        const RunLock first(folder / "run");
        const std::string message = message_of<ConfigError>([&] { RunLock second(folder / "run"); });
        DOCTEST_CHECK(holds(message, "another process is training in this folder"));
        const RunLock other(folder / "other");
    }
    const RunLock again(folder / "run");
}

DOCTEST_TEST_CASE("run_lock: where nothing was put into the folder, nothing is left") {
    const TempDir folder;
    { const RunLock lock(folder / "made"); }
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "made"));
    std::filesystem::create_directory(folder / "there");
    { const RunLock lock(folder / "there"); }
    DOCTEST_CHECK(std::filesystem::is_empty(folder / "there"));
    {
        const RunLock lock(folder / "used");
        write_file(folder / "used/metrics.jsonl", "");
    }
    DOCTEST_CHECK(std::filesystem::exists(folder / "used/lock"));
}

DOCTEST_TEST_CASE("run_lock: the lock dies with its process, however it ends") {
    const TempDir folder;
    int ready[2];
    DOCTEST_REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    DOCTEST_REQUIRE(child >= 0);
    if (child == 0) {
        const RunLock held(folder / "run");
        const char byte = 1;
        if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    char byte = 0;
    DOCTEST_REQUIRE(::read(ready[0], &byte, 1) == 1);
    DOCTEST_CHECK_THROWS_AS(RunLock(folder / "run"), ConfigError);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const RunLock mine(folder / "run");
    ::close(ready[0]);
    ::close(ready[1]);
}

DOCTEST_TEST_CASE("run_lock: a folder that cannot be made is named") {
    const TempDir folder;
    write_file(folder / "file", "");
    const std::string message = message_of<ConfigError>([&] { RunLock lock(folder / "file/run"); });
    DOCTEST_CHECK(holds(message, "file/run: this run folder cannot be made or written to"));
}

namespace {

/// Counts its calls.
struct Solver {
    int calls = 0;
    Solution operator()() {
        ++calls;
        return {.metrics = {{"step", 1}, {"eval_auroc", 0.75}},
                .write_model = [](const std::filesystem::path& directory) {
                    write_file(directory / "config.json", "{}\n");
                }};
    }
};

}  // namespace

DOCTEST_TEST_CASE("solve_run: one line of metrics and a model, solved once") {
    const TempDir folder;
    LoopSpec spec;
    spec.fixed_options = {{"--penalty", 1}};
    Solver solver;
    const LoopResult first = solve_run(spec, folder / "run", std::ref(solver));
    DOCTEST_CHECK(first.steps == 1);
    DOCTEST_CHECK_FALSE(first.finished_before);
    DOCTEST_CHECK(read_file(folder / "run/metrics.jsonl") == "{\"step\":1,\"eval_auroc\":0.75}\n");
    DOCTEST_CHECK(read_file(first.model / "config.json") == "{}\n");
    const LoopResult second = solve_run(spec, folder / "run", std::ref(solver));
    DOCTEST_CHECK(second.finished_before);
    DOCTEST_CHECK(second.model == first.model);
    DOCTEST_CHECK(solver.calls == 1);
}

DOCTEST_TEST_CASE("solve_run: other options are refused before anything is solved") {
    const TempDir folder;
    LoopSpec spec;
    spec.fixed_options = {{"--penalty", 1}};
    Solver solver;
    solve_run(spec, folder / "run", std::ref(solver));
    spec.fixed_options["--penalty"] = 2;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      solve_run(spec, folder / "run", std::ref(solver));
                  }).starts_with("--penalty is 2, but this run was started with 1"));
    DOCTEST_CHECK(solver.calls == 1);
}

DOCTEST_TEST_CASE("solve_run: for more steps it is solved again") {
    const TempDir folder;
    LoopSpec spec;
    spec.fixed_options = {{"--steps", 4}};
    Solver solver;
    solve_run(spec, folder / "run", std::ref(solver));
    spec.fixed_options["--steps"] = 8;
    DOCTEST_CHECK_FALSE(finished_run(folder / "run", spec));
    DOCTEST_CHECK_FALSE(solve_run(spec, folder / "run", std::ref(solver)).finished_before);
    DOCTEST_CHECK(solver.calls == 2);
}

DOCTEST_TEST_CASE("find_model: a model folder, a finished run, or a run's newest checkpoint") {
    const TempDir folder;
    const auto make = [&](const std::string& path) {
        std::filesystem::create_directories(folder / path);
        write_file(folder / (path + "/config.json"), "{}");
    };
    make("model_folder");
    DOCTEST_CHECK(find_model(folder / "model_folder") == folder / "model_folder");
    make("run/checkpoints/step-00000010");
    make("run/checkpoints/step-00000009");
    DOCTEST_CHECK(find_model(folder / "run") == folder / "run/checkpoints/step-00000010");
    std::filesystem::create_directories(folder / "run/model");
    DOCTEST_CHECK(find_model(folder / "run") == folder / "run/checkpoints/step-00000010");
    make("run/model");
    DOCTEST_CHECK(find_model(folder / "run") == folder / "run/model");
}

DOCTEST_TEST_CASE("find_model: what is no model is said") {
    const TempDir folder;
    DOCTEST_CHECK(message_of<InputError>([&] { find_model(folder.path()); }) ==
                  folder.path().string() +
                      ": is no model folder: it holds no config.json, model/ or checkpoints/");
    DOCTEST_CHECK(message_of<InputError>([&] { find_model(folder / "none"); }) ==
                  (folder / "none").string() + ": no such model folder");
}
