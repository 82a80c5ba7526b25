// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/solve_run.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::training;

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
