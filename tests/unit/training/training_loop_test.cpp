// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/training_loop.hpp"

#include "support/metrics_lines.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/training/toy_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/training/checkpoint_store.hpp"
#include "bigbird/training/run_start.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::training;
namespace fs = std::filesystem;

namespace {

bool same_model(const fs::path& a, const fs::path& b) {
    return read_file(a / "model/model.safetensors") == read_file(b / "model/model.safetensors");
}

void check_same_run(const fs::path& a, const fs::path& b) {
    DOCTEST_CHECK(same_model(a, b));
    DOCTEST_CHECK(curve_of(a) == curve_of(b));
}

/// Runs a task that nothing disturbs.
ToyTask run_toy(const LoopSpec& spec, const fs::path& run) {
    ToyTask task;
    run_training(task, spec, run);
    return task;
}

/// The list of checksums of a checkpoint whose files were changed.
void renew_sums(const fs::path& checkpoint) {
    const fs::path file = checkpoint / "training_state/sha256.txt";
    std::istringstream in(read_file(file));
    std::string sum, name, text;
    while (in >> sum >> name)
        text += sha256_of_file(checkpoint / name) + "  " + name + "\n";
    write_file(file, text);
}

LoopSpec evaluating_spec() {
    LoopSpec spec = toy_spec(20);
    spec.evaluate_every = 3;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("training_loop: the loss falls, every step has its line, the run directory is whole") {
    const TempDir folder;
    ToyTask task;
    LoopSpec spec = toy_spec(200);
    spec.run.keep = 2;
    spec.run.checkpoint_every = 25;
    const LoopResult result = run_training(task, spec, folder / "run");
    DOCTEST_CHECK(result.steps == 200);
    const std::vector<Json> all = metrics_of(folder / "run");
    DOCTEST_REQUIRE(all.size() == 200);
    DOCTEST_CHECK(all[199]["loss"].get<double>() < 0.2 * all[0]["loss"].get<double>());
    DOCTEST_CHECK(all[199]["loss"].get<double>() == result.last_loss);
    DOCTEST_CHECK(all[6]["step"] == 7);
    DOCTEST_CHECK(all[6]["twice"].get<double>() == doctest::Approx(2 * all[6]["loss"].get<double>()));
    DOCTEST_CHECK(all[6]["learning_rate"].get<double>() == learning_rate(spec.learning_rate, 7));
    DOCTEST_CHECK(all[6]["gradient_norm"].get<double>() > 0);
    DOCTEST_CHECK(all[6]["tokens"] == 96);
    DOCTEST_CHECK(all[6]["memory_bytes"].get<double>() > 1e6);
    DOCTEST_CHECK(all[6]["data_wait_share"] == 0);
    DOCTEST_CHECK(CheckpointStore(folder / "run", 1).steps() == std::vector<std::int64_t>{175, 200});
    DOCTEST_CHECK(at::equal(model::read_safetensors(folder / "run/model/model.safetensors").at("weight"),
                            task.weight()));
    DOCTEST_CHECK(read_json(folder / "run/config.resolved.json")["options"]["--batch-size"] == 16);
}

DOCTEST_TEST_CASE("training_loop: an interrupted run equals an uninterrupted one bit for bit") {
    const TempDir folder;
    const ToyTask whole = run_toy(evaluating_spec(), folder / "whole");
    for (const int signal : stop_signals) {
        const fs::path run = folder / ("run" + std::to_string(signal));
        ToyTask first;
        first.on_step = [&](std::int64_t step) { set_stop_signal(step == 9 ? signal : 0); };
        try {
            run_training(first, evaluating_spec(), run);
            DOCTEST_FAIL("the signal was not seen");
        } catch (const Stopped& stopped) {
            DOCTEST_CHECK(static_cast<int>(stopped.code()) == 128 + signal);
        }
        set_stop_signal(0);
        DOCTEST_CHECK_FALSE(fs::exists(run / "model"));
        ToyTask second;
        run_training(second, evaluating_spec(), run);
        DOCTEST_CHECK(second.steps_made == 11);
        check_same_run(run, folder / "whole");
        DOCTEST_CHECK(second.evaluations == whole.evaluations);
    }
}

DOCTEST_TEST_CASE("training_loop: reading losses late, as on a GPU, changes neither curve nor model") {
    const TempDir folder;
    const auto broken = [](std::int64_t step) { return step == 2 || step == 12 || step == 20; };
    ToyTask at_once, late;
    at_once.broken_steps = late.broken_steps = broken;
    run_training(at_once, evaluating_spec(), folder / "whole");
    LoopSpec spec = evaluating_spec();
    spec.read_late = true;
    late.on_step = [&](std::int64_t step) { set_stop_signal(step == 10 ? SIGTERM : 0); };
    DOCTEST_CHECK_THROWS_AS(run_training(late, spec, folder / "run"), Stopped);
    set_stop_signal(0);
    DOCTEST_CHECK(metrics_of(folder / "run").back()["step"] == 10);
    const LoopResult result = run_training(late, spec, folder / "run");
    DOCTEST_CHECK(result.skipped_steps == 3);
    check_same_run(folder / "run", folder / "whole");
    ToyTask diverged;
    diverged.broken_steps = [](std::int64_t step) { return step > 5; };
    LoopSpec long_spec = toy_spec(100);
    long_spec.read_late = true;
    const std::string message =
        message_of<ConfigError>([&] { run_training(diverged, long_spec, folder / "all"); });
    DOCTEST_CHECK(holds(message, "not finite in 20 steps in a row, up to step 25"));
}

LoopSpec often_written_spec() {
    LoopSpec spec = toy_spec(60);
    spec.run.checkpoint_every = 1;  // so that many kills fall into a write
    spec.evaluate_every = 7;
    return spec;
}

/// Starts the helper case below; LibTorch's backward pass cannot be used after a mere fork().
pid_t start_helper(const fs::path& run, const char* what) {
    const std::string program = fs::read_symlink("/proc/self/exe").string();
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("BIGBIRD_TEST_RUN", run.c_str(), 1);
        ::setenv("BIGBIRD_TEST_WHAT", what, 1);
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
        ::execl(program.c_str(), program.c_str(), "--test-case=training_loop: helper*",
                static_cast<char*>(nullptr));
        ::_exit(127);
    }
    return child;
}

/// The wait status of the helper's process.
int end_of_helper(const fs::path& run, const char* what) {
    const pid_t child = start_helper(run, what);
    int status = 0;
    DOCTEST_REQUIRE(::waitpid(child, &status, 0) == child);
    return status;
}

DOCTEST_TEST_CASE(
    "training_loop: a run stopped in an evaluation keeps its step and evaluates when it goes on") {
    const TempDir folder;
    run_toy(evaluating_spec(), folder / "whole");
    for (const int interrupted : {1, 6}) {  // after step 6; the last, after step 20
        const fs::path run = folder / std::to_string(interrupted);
        ToyTask first;
        first.on_evaluate = [&] {
            if (first.evaluations == interrupted) throw Stopped("stopped", ExitCode::terminated);
        };
        DOCTEST_CHECK_THROWS_AS(run_training(first, evaluating_spec(), run), Stopped);
        DOCTEST_CHECK(CheckpointStore(run, 1).steps().back() == (interrupted == 1 ? 6 : 20));
        DOCTEST_CHECK(run_toy(evaluating_spec(), run).steps_made == (interrupted == 1 ? 14 : 0));
        check_same_run(run, folder / "whole");
    }
}

DOCTEST_TEST_CASE("training_loop: helper, a run in a process of its own") {
    const char* run = std::getenv("BIGBIRD_TEST_RUN");
    if (run == nullptr) return;
    const std::string what = std::getenv("BIGBIRD_TEST_WHAT");
    ToyTask task;
    int written = 0;
    if (what == "step") {
        task.on_step = [](std::int64_t step) {
            if (step == 11) ::kill(::getpid(), SIGKILL);
        };
    } else if (what == "write") {
        task.on_write = [&] {
            if (++written == 3) ::kill(::getpid(), SIGKILL);
        };
    }
    const auto outlast_signal = [] {
        set_stop_signal(SIGTERM);
        ::sleep(60);
    };
    if (what == "long step") {
        task.on_step = [&](std::int64_t step) {
            if (step == 11) outlast_signal();
        };
    } else if (what == "long evaluation") {
        task.on_evaluate = [&] {
            if (task.evaluations == 2) outlast_signal();
        };
    }
    run_training(task, what == "often" ? often_written_spec() : evaluating_spec(), run);
}

DOCTEST_TEST_CASE(
    "training_loop: a run killed between checkpoints goes on from the last one and ends the same") {
    const TempDir folder;
    run_toy(evaluating_spec(), folder / "whole");
    const int status = end_of_helper(folder / "run", "step");
    DOCTEST_REQUIRE(WIFSIGNALED(status));
    DOCTEST_CHECK(metrics_of(folder / "run").back()["step"] == 10);
    DOCTEST_CHECK(run_toy(evaluating_spec(), folder / "run").steps_made == 12);
    check_same_run(folder / "run", folder / "whole");
}

DOCTEST_TEST_CASE("training_loop: a signal in a step or evaluation of a minute keeps the last step at once") {
    const TempDir folder;
    run_toy(evaluating_spec(), folder / "whole");
    for (const auto& [what, step] : {std::pair("long step", 10), std::pair("long evaluation", 9)}) {
        const fs::path run = folder / what;
        const auto start = std::chrono::steady_clock::now();
        const int status = end_of_helper(run, what);
        DOCTEST_CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
        DOCTEST_REQUIRE(WIFEXITED(status));
        DOCTEST_CHECK(WEXITSTATUS(status) == 143);
        DOCTEST_CHECK(CheckpointStore(run, 1).steps().back() == step);
        DOCTEST_CHECK(run_toy(evaluating_spec(), run).steps_made == 20 - step);
        check_same_run(run, folder / "whole");
    }
}

DOCTEST_TEST_CASE("training_loop: killed in the middle of a checkpoint, a run goes on from the one before") {
    const TempDir folder;
    const fs::path run = folder / "run";
    const int status = end_of_helper(run, "write");
    DOCTEST_REQUIRE(WIFSIGNALED(status));
    DOCTEST_CHECK(CheckpointStore(run, 1).steps() == std::vector<std::int64_t>{4, 8});
    run_toy(evaluating_spec(), folder / "whole");
    DOCTEST_CHECK(run_toy(evaluating_spec(), run).steps_made == 12);
    check_same_run(run, folder / "whole");
    for (const auto& entry : fs::recursive_directory_iterator(run))
        DOCTEST_CHECK(entry.path().filename().string().find(".tmp.") == std::string::npos);
}

DOCTEST_TEST_CASE("training_loop: killed at random moments, a run ends as an undisturbed one") {
    const TempDir folder;
    const fs::path run = folder / "run";
    run_toy(often_written_spec(), folder / "whole");
    int status = 0;
    const auto start = std::chrono::steady_clock::now();
    end_of_helper(folder / "undisturbed", "often");
    const std::int64_t whole_time =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
            .count();
    Rng rng(20);
    int kills = 0;
    for (bool done = false; !done;) {
        const pid_t child = start_helper(run, "often");
        // Longer and longer, so that the end is reached on a machine that becomes slower, too.
        ::usleep(
            static_cast<useconds_t>(rng.between(whole_time / 10, whole_time / 4 + whole_time / 20 * kills)));
        ::kill(child, SIGKILL);
        DOCTEST_REQUIRE(::waitpid(child, &status, 0) == child);
        done = WIFEXITED(status);
        DOCTEST_REQUIRE((!done || WEXITSTATUS(status) == 0));
        kills += done ? 0 : 1;
        DOCTEST_REQUIRE(kills < 1000);
    }
    DOCTEST_CHECK(kills >= 2);
    check_same_run(run, folder / "whole");
}

DOCTEST_TEST_CASE("training_loop: a full disk ends the run and leaves the last checkpoint good") {
    const TempDir folder;
    rlimit before{};
    DOCTEST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    ::signal(SIGXFSZ, SIG_IGN);
    ToyTask first;
    first.on_step = [&](std::int64_t step) {
        if (step == 11) {  // no file may grow any more, as where no space is left
            rlimit full = before;
            full.rlim_cur = 16;
            ::setrlimit(RLIMIT_FSIZE, &full);
        }
    };
    DOCTEST_CHECK_THROWS_AS(run_training(first, toy_spec(20), folder / "metrics"), WriteError);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ToyTask second;
    int written = 0;
    second.on_write = [&] {
        if (++written == 3) {
            rlimit full = before;
            full.rlim_cur = 16;
            ::setrlimit(RLIMIT_FSIZE, &full);
        }
    };
    DOCTEST_CHECK_THROWS_AS(run_training(second, toy_spec(20), folder / "run"), WriteError);
    ::setrlimit(RLIMIT_FSIZE, &before);
    DOCTEST_CHECK(CheckpointStore(folder / "run", 1).steps() == std::vector<std::int64_t>{4, 8});
    run_toy(toy_spec(20), folder / "whole");
    for (const char* name : {"metrics", "run"}) {
        DOCTEST_CHECK(run_toy(toy_spec(20), folder / name).steps_made == 12);
        check_same_run(folder / name, folder / "whole");
    }
}

DOCTEST_TEST_CASE("training_loop: a damaged last checkpoint costs its steps only") {
    const TempDir folder;
    ToyTask first;
    first.on_step = [](std::int64_t step) { set_stop_signal(step == 10 ? SIGTERM : 0); };
    DOCTEST_CHECK_THROWS_AS(run_training(first, toy_spec(12), folder / "run"), Stopped);
    set_stop_signal(0);
    write_file(folder / "run/checkpoints/step-00000010/model.safetensors", "rubbish");
    DOCTEST_CHECK(run_toy(toy_spec(12), folder / "run").steps_made == 4);
    run_toy(toy_spec(12), folder / "whole");
    DOCTEST_CHECK(same_model(folder / "run", folder / "whole"));
}

DOCTEST_TEST_CASE("training_loop: a finished run is left as it is") {
    const TempDir folder;
    run_toy(toy_spec(5), folder / "run");
    ToyTask second;
    const std::string before = read_file(folder / "run/metrics.jsonl");
    const LoopResult result = run_training(second, toy_spec(5), folder / "run");
    DOCTEST_CHECK(result.finished_before);
    DOCTEST_CHECK(second.steps_made == 0);
    DOCTEST_CHECK(read_file(folder / "run/metrics.jsonl") == before);
}

DOCTEST_TEST_CASE("training_loop: a run killed before its model was written writes it without another step") {
    const TempDir folder;
    run_toy(toy_spec(6), folder / "run");
    const std::string weights = read_file(folder / "run/model/model.safetensors");
    fs::remove_all(folder / "run/model");
    DOCTEST_CHECK(run_toy(toy_spec(6), folder / "run").steps_made == 0);
    DOCTEST_CHECK(read_file(folder / "run/model/model.safetensors") == weights);
}

DOCTEST_TEST_CASE("training_loop: --max-hours writes a checkpoint and ends with 75") {
    const TempDir folder;
    ToyTask first;
    LoopSpec spec = toy_spec(6);
    spec.run.max_hours = 1e-12;
    try {
        run_training(first, spec, folder / "run");
        DOCTEST_FAIL("the time was not seen");
    } catch (const Stopped& stopped) {
        DOCTEST_CHECK(stopped.code() == ExitCode::stopped_early);
    }
    DOCTEST_CHECK(first.steps_made == 1);
    run_toy(toy_spec(6), folder / "run");
    run_toy(toy_spec(6), folder / "whole");
    DOCTEST_CHECK(same_model(folder / "run", folder / "whole"));
}

DOCTEST_TEST_CASE("training_loop: a step that is not finite is left out, twenty in a row end the run") {
    const TempDir folder;
    ToyTask task;
    task.broken_steps = [](std::int64_t step) { return step == 2 || step == 5; };
    const LoopResult result = run_training(task, toy_spec(6), folder / "some");
    DOCTEST_CHECK(result.skipped_steps == 2);
    const std::vector<Json> all = metrics_of(folder / "some");
    DOCTEST_CHECK(all[1]["skipped"] == true);
    DOCTEST_CHECK(all[1]["loss"].is_null());
    DOCTEST_CHECK_FALSE(all[2].contains("skipped"));
    ToyTask diverged;
    diverged.broken_steps = [](std::int64_t step) { return step > 5; };
    const std::string message =
        message_of<ConfigError>([&] { run_training(diverged, toy_spec(100), folder / "all"); });
    DOCTEST_CHECK(holds(message, "not finite in 20 steps in a row, up to step 25"));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "all/model"));
}

DOCTEST_TEST_CASE("training_loop: the best evaluation's model is the run's, and patience ends it") {
    const TempDir folder;
    LoopSpec spec = toy_spec(40);
    spec.evaluate_every = 2;
    spec.run.keep = 1;
    spec.selection = Selection{.patience = 3};
    ToyTask task;
    task.scripted = {5, 4, 3, 3.5, 3.25, 3, 1};
    at::Tensor best;
    task.on_step = [&](std::int64_t step) {
        if (step == 7) best = task.weight().clone();
    };
    const LoopResult result = run_training(task, spec, folder / "run");
    DOCTEST_CHECK(result.steps == 12);
    DOCTEST_CHECK(result.best_step == 6);
    DOCTEST_CHECK(
        at::equal(model::read_safetensors(folder / "run/model/model.safetensors").at("weight"), best));
    DOCTEST_CHECK(fs::exists(folder / "run/model/config.json"));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "run/model/training_state"));
    fs::remove_all(folder / "run/model");
    ToyTask again;
    DOCTEST_CHECK(run_training(again, spec, folder / "run").best_step == 6);
    DOCTEST_CHECK(again.steps_made == 0);
    DOCTEST_CHECK(
        at::equal(model::read_safetensors(folder / "run/model/model.safetensors").at("weight"), best));
}

DOCTEST_TEST_CASE("training_loop: of equal evaluations the one with the lower loss is the best") {
    struct Saturated : ToyTask {
        Json evaluate() override {
            Json figures = ToyTask::evaluate();
            figures["eval_auprc"] = evaluations == 1 ? Json(0.5) : Json(1.0);
            return figures;
        }
    };
    const TempDir folder;
    LoopSpec spec = toy_spec(12);
    spec.evaluate_every = 2;
    spec.selection = Selection{.metric = "eval_auprc", .higher_is_better = true};
    Saturated task;
    task.scripted = {1, 5, 4, 3, 3, 4};
    DOCTEST_CHECK(run_training(task, spec, folder / "run").best_step == 8);
}

DOCTEST_TEST_CASE(
    "training_loop: with more steps a run goes on, finished or not, at the longer one's rates") {
    const TempDir folder;
    const auto longer_by = [&](const char* name, const auto& disturb) {
        const fs::path run = folder / name;
        run_toy(toy_spec(8), run);
        ToyTask task;
        disturb(task);
        try {
            run_training(task, toy_spec(20), run);
        } catch (const Stopped&) {
            set_stop_signal(0);
            ToyTask rest;
            run_training(rest, toy_spec(20), run);
            DOCTEST_CHECK(rest.steps_made == 7);
        }
        return task.steps_made;
    };
    DOCTEST_CHECK(longer_by(
                      "whole", [](ToyTask&) {}) == 12);
    longer_by("cut", [](ToyTask& task) {
        task.on_step = [](std::int64_t step) { set_stop_signal(step == 13 ? SIGTERM : 0); };
    });
    check_same_run(folder / "cut", folder / "whole");
    DOCTEST_CHECK(read_json(folder / "whole/config.resolved.json")["options"]["--steps"] == 20);
    const auto lines = metrics_of(folder / "whole");
    for (const std::int64_t step : {8, 9, 20}) {
        DOCTEST_CHECK(lines.at(static_cast<std::size_t>(step - 1)).at("learning_rate") ==
                      learning_rate(toy_spec(step > 8 ? 20 : 8).learning_rate, step));
    }
    ToyTask fewer;
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { run_training(fewer, toy_spec(19), folder / "whole"); }),
                        "--steps is 19, but this run was started with 20"));

    LoopSpec patient = evaluating_spec();  // stops at step 12
    patient.selection = Selection{.patience = 3};
    ToyTask task;
    task.scripted = {1, 2, 3, 4, 5, 0, 7, 8, 9};
    DOCTEST_CHECK(run_training(task, patient, folder / "patient").steps == 12);
    LoopSpec longer = toy_spec(40);
    longer.evaluate_every = 3;
    longer.selection = patient.selection;
    ToyTask again;
    again.scripted = task.scripted;
    const LoopResult result = run_training(again, longer, folder / "patient");
    DOCTEST_CHECK(result.best_step == 18);
    DOCTEST_CHECK(result.steps == 40);  // does not stop early again
    fs::remove_all(folder / "patient/checkpoints");
    DOCTEST_CHECK(
        holds(message_of<ConfigError>([&] { run_training(again, toy_spec(50), folder / "patient"); }),
              "its checkpoints are gone, so that it cannot go on; give another --output"));
    DOCTEST_CHECK(fs::exists(folder / "patient/model/config.json"));
}

DOCTEST_TEST_CASE("training_loop: a run that another process holds is refused") {
    const TempDir folder;
    const RunLock held(folder / "run");
    ToyTask task;
    DOCTEST_CHECK_THROWS_AS(run_training(task, toy_spec(2), folder / "run"), ConfigError);
    DOCTEST_CHECK(task.steps_made == 0);
}

DOCTEST_TEST_CASE(
    "training_loop: another run's best checkpoint comes along, where it is gone, another is found") {
    const TempDir folder;
    LoopSpec spec = toy_spec(20);
    spec.evaluate_every = 2;
    spec.run.checkpoint_every = 4;
    spec.run.keep = 10;
    spec.selection = Selection{};
    ToyTask first;
    first.scripted = {3, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    DOCTEST_CHECK(run_training(first, spec, folder / "first").best_step == 2);
    const auto go_on = [&](const char* name, std::vector<double> evaluations) {
        LoopSpec other = spec;
        other.run.resume = (folder / "first/checkpoints/step-00000008").string();
        ToyTask task;
        task.scripted = std::move(evaluations);
        return run_training(task, other, folder / name);
    };
    DOCTEST_CHECK(go_on("second", {3, 4, 4, 4, 4, 4, 4, 4, 4, 4}).best_step == 2);
    DOCTEST_CHECK(same_model(folder / "second", folder / "first"));
    fs::remove_all(folder / "first/checkpoints/step-00000002");
    DOCTEST_CHECK(go_on("third", {3, 4, 4, 4, 4, 4, 3.5, 4, 4, 4}).best_step == 14);
    DOCTEST_CHECK(fs::exists(folder / "third/model/model.safetensors"));
}

DOCTEST_TEST_CASE("training_loop: a state that says nonsense is gone on from or refused, never a crash") {
    const TempDir folder;
    const fs::path run = folder / "run", whole = folder / "whole";
    LoopSpec spec = evaluating_spec();
    spec.selection = Selection{.patience = 3};
    ToyTask first;
    first.on_step = [&](std::int64_t step) { set_stop_signal(step == 9 ? SIGTERM : 0); };
    DOCTEST_CHECK_THROWS_AS(run_training(first, spec, whole), Stopped);
    set_stop_signal(0);
    const fs::path checkpoint = fs::path("checkpoints") / "step-00000009";
    const Json state = read_json(whole / checkpoint / "training_state/state.json");
    DOCTEST_REQUIRE(state.at("progress").contains("best_step"));
    const Json leaves = state.flatten();
    const Json nonsense[] = {nullptr,          "nine",        -1, 1'000'000'000'000'000'000, 0.5,
                             Json::array({1}), Json::object()};
    const auto go_on_from = [&](const Json& changed) {
        fs::remove_all(run);
        fs::copy(whole, run, fs::copy_options::recursive);
        write_file(run / checkpoint / "training_state/state.json", changed.dump());
        renew_sums(run / checkpoint);
        ToyTask task;
        try {
            run_training(task, spec, run);
        } catch (const Error&) {
            return;
        }
        DOCTEST_CHECK(fs::exists(run / "model/model.safetensors"));
    };
    for (const auto& item : leaves.items()) {
        for (const Json& value : nonsense) {
            DOCTEST_CAPTURE(item.key());
            DOCTEST_CAPTURE(value.dump());
            Json changed = state;
            changed[Json::json_pointer(item.key())] = value;
            DOCTEST_CHECK_NOTHROW(go_on_from(changed));
        }
    }
    for (const Json& value : nonsense) {
        DOCTEST_CAPTURE(value.dump());
        DOCTEST_CHECK_NOTHROW(go_on_from(value));
    }
}
