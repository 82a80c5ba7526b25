// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/ranks.hpp"

#include "support/metrics_lines.hpp"
#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/pretraining/corpora.hpp"
#include "bigbird/pretraining/mlm_task.hpp"
#include "bigbird/training/training_loop.hpp"

#include <ATen/ATen.h>

#include <cstdlib>
#include <sstream>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::pretraining;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t all_steps = 6;

LoopSpec spec_of_run(const std::shared_ptr<Ranks>& ranks) {
    LoopSpec spec;
    spec.learning_rate = {.peak = 1e-3, .warmup_steps = 2, .total_steps = all_steps};
    spec.run.checkpoint_every = 2;
    spec.evaluate_every = 3;
    spec.fixed_options = {{"--steps", all_steps}};
    spec.ranks = ranks;
    return spec;
}

/// Pretrains a small network with dropout on real sequence; five sequences a step, so that two ranks have
/// unequal shares.
LoopResult train_in(const fs::path& run, const std::shared_ptr<Ranks>& ranks, bool nsp, double max_hours = 0,
                    bool packed = false) {
    MlmTaskSpec step{{.batch_size = 5, .seed = 4, .evaluation_sequences = 7}, 256};
    step.packed_projections = packed;
    step.ranks = ranks;
    MlmTask task(small_network(), small_tokenizer(), small_source(nsp), small_source(nsp), step);
    LoopSpec spec = spec_of_run(ranks);
    spec.run.max_hours = max_hours;
    return run_training(task, spec, run);
}

/// Runs the helper case below as `size` processes; their exit codes, as a shell gives them.
std::vector<int> run_ranks(const fs::path& folder, const std::string& what, int size) {
    fs::remove(folder / "meeting");
    const std::string program = fs::read_symlink("/proc/self/exe").string();
    std::string command = "cd '" + folder.string() + "';";
    for (int rank = 0; rank < size; ++rank) {
        command += " (RANK=" + std::to_string(rank) + " LOCAL_RANK=" + std::to_string(rank) +
                   " WORLD_SIZE=" + std::to_string(size) +
                   " BIGBIRD_MEETING_FILE=meeting BIGBIRD_TEST_RANKS=" + what + " '" + program +
                   "' --test-case='ranks: helper*' > rank" + std::to_string(rank) +
                   ".log 2>&1; echo $? > code" + std::to_string(rank) + ") &";
    }
    command += " wait";
    DOCTEST_REQUIRE(std::system(command.c_str()) == 0);
    std::vector<int> codes;
    for (int rank = 0; rank < size; ++rank)
        codes.push_back(std::stoi(read_file(folder / ("code" + std::to_string(rank)))));
    return codes;
}

/// Losses, norms and evaluations agree to the rounding of sums in another order.
void check_same_curve(const fs::path& a, const fs::path& b) {
    const std::vector<Json> ours = metrics_of(a), theirs = metrics_of(b);
    DOCTEST_REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        DOCTEST_CHECK(ours[i]["step"] == theirs[i]["step"]);
        for (const char* key : {"loss", "mlm_loss", "gradient_norm", "bits_per_character", "mlm_accuracy",
                                "tokens", "sequences", "eval_loss", "eval_bits_per_character"}) {
            DOCTEST_CHECK(ours[i].contains(key) == theirs[i].contains(key));
            if (ours[i].contains(key)) {
                DOCTEST_INFO(key);
                DOCTEST_CHECK(ours[i][key].get<double>() ==
                              doctest::Approx(theirs[i][key].get<double>()).epsilon(2e-5));
            }
        }
    }
}

}  // namespace

DOCTEST_TEST_CASE("ranks: helper, one process of several") {
    const char* what = std::getenv("BIGBIRD_TEST_RANKS");
    if (what == nullptr) return;
    const std::string task = what;
    const auto ranks = std::make_shared<Ranks>(ranks_from_environment(), at::kCPU);
    int code = 0;
    try {
        if (task == "sum") {
            at::Tensor values = at::full({3}, ranks->rank() + 1.0);
            ranks->sum(values);
            DOCTEST_CHECK(at::equal(values, at::full({3}, 3.0)));
            at::Tensor number = at::full({2}, ranks->rank() == 0 ? 5 : 6, at::kLong);
            ranks->broadcast(number);
            DOCTEST_CHECK(at::equal(number, at::full({2}, 5, at::kLong)));
            DOCTEST_CHECK(ranks->broadcast(Json{{"rank", ranks->rank()}}) == Json{{"rank", 0}});
            const Json mine = ranks->is_first() ? Json("longer than the other") : Json(1);
            DOCTEST_CHECK(ranks->gather(mine) == std::vector<Json>{"longer than the other", 1});
        } else if (task == "share") {
            int calls = 0;
            const corpus::TokenCorpus corpus =
                share_corpus(*ranks, small_tokenizer(), 1, [&](const corpus::TokenSink& sink) {
                    ++calls;
                    sink.sentence(small_tokenizer().encode("ACGTACGTTT"), 10);
                    sink.document_end();
                });
            DOCTEST_CHECK(calls == (ranks->is_first() ? 1 : 0));
            DOCTEST_CHECK(corpus.bases() == 10);
        } else if (task == "fail") {
            if (ranks->rank() == 1) throw InputError("rank 1 breaks");
            at::Tensor values = at::ones({1});
            ranks->sum(values);
        } else {
            train_in(task, ranks, task != "plain", task == "stopped" ? 1e-12 : 0, task == "packed");
        }
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        code = static_cast<int>(error.code());
    }
    if (code != 0) std::_Exit(code);
}

DOCTEST_TEST_CASE("ranks: alone nothing is changed") {
    Ranks ranks;
    at::Tensor values = at::ones({2});
    ranks.sum(values);
    ranks.broadcast(values);
    ranks.wait_for_all();
    DOCTEST_CHECK(at::equal(values, at::ones({2})));
    DOCTEST_CHECK(ranks.broadcast(Json(7)) == 7);
    DOCTEST_CHECK(ranks.gather(7) == std::vector<Json>{7});
}

DOCTEST_TEST_CASE("ranks: two processes sum and broadcast") {
    const TempDir folder;
    DOCTEST_CHECK(run_ranks(folder.path(), "sum", 2) == std::vector<int>{0, 0});
}

DOCTEST_TEST_CASE("ranks: one process tokenises for both") {
    const TempDir folder;
    DOCTEST_CHECK(run_ranks(folder.path(), "share", 2) == std::vector<int>{0, 0});
}

DOCTEST_TEST_CASE("ranks: two or three processes train as one does, with and without pairs") {
    const TempDir folder;
    train_in(folder / "one", std::make_shared<Ranks>(), true);
    train_in(folder / "one_plain", std::make_shared<Ranks>(), false);
    DOCTEST_REQUIRE(run_ranks(folder.path(), "two", 2) == std::vector<int>{0, 0});
    DOCTEST_REQUIRE(run_ranks(folder.path(), "plain", 2) == std::vector<int>{0, 0});
    DOCTEST_REQUIRE(run_ranks(folder.path(), "three", 3) == std::vector<int>{0, 0, 0});
    DOCTEST_CHECK(metrics_of(folder / "one").size() == all_steps + 2);
    check_same_curve(folder / "two", folder / "one");
    check_same_curve(folder / "three", folder / "one");
    check_same_curve(folder / "plain", folder / "one_plain");
}

DOCTEST_TEST_CASE("ranks: two processes train as one does, with packed projections") {
    const TempDir folder;
    train_in(folder / "one", std::make_shared<Ranks>(), true);
    DOCTEST_REQUIRE(run_ranks(folder.path(), "packed", 2) == std::vector<int>{0, 0});
    check_same_curve(folder / "packed", folder / "one");
}

DOCTEST_TEST_CASE("ranks: a run goes on with another number of processes") {
    const TempDir folder;
    train_in(folder / "one", std::make_shared<Ranks>(), true);
    DOCTEST_REQUIRE(run_ranks(folder.path(), "stopped", 2) == std::vector<int>{75, 75});
    DOCTEST_CHECK(metrics_of(folder / "stopped").size() == 1);
    train_in(folder / "stopped", std::make_shared<Ranks>(), true);
    check_same_curve(folder / "stopped", folder / "one");
}

DOCTEST_TEST_CASE("ranks: when one fails the others end, and say so") {
    const TempDir folder;
    DOCTEST_CHECK(run_ranks(folder.path(), "fail", 2) == std::vector<int>{4, 3});
    DOCTEST_CHECK(
        holds(read_file(folder / "rank0.log"), "process 0 of 2 lost the others: one of them failed"));
}
