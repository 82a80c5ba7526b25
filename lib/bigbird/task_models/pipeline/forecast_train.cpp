// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/pipeline/chain.hpp"
#include "bigbird/task_models/pipeline/train.hpp"
#include "bigbird/task_models/train/finetune.hpp"
#include "bigbird/task_models/train/run_plan.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <sstream>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t trial_steps = 12, slow_steps = 2;
constexpr double evaluations = 10;
constexpr double ridge_rows_a_second =
    30'000;  // rows trained on and scored per second, on one core of a Xeon

template <typename Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Rates from the trial's metrics.jsonl.
struct Rates {
    double step = 0, all_steps = 0, evaluation = 0;  ///< seconds
};

Rates rates_of(const fs::path& metrics) {
    std::istringstream lines(read_whole_file(metrics));
    std::vector<double> steps;
    Rates rates;
    for (std::string line; std::getline(lines, line);) {
        const Json json = Json::parse(line);
        rates.evaluation = json.value("eval_seconds", rates.evaluation);
        if (json.contains("seconds")) steps.push_back(json["seconds"].get<double>());
    }
    for (const double seconds : steps)
        rates.all_steps += seconds;
    if (std::ssize(steps) > slow_steps) steps.erase(steps.begin(), steps.begin() + slow_steps);
    std::ranges::sort(steps);
    rates.step = steps.empty() ? 0 : steps[steps.size() / 2];
    return rates;
}

std::string line_of(const char* name, double seconds, const std::string& what) {
    return fmt::format("{:<22}{}{}", name, Progress::duration(seconds), what);
}

}  // namespace

std::vector<std::string> forecast_train(const TrainSpec& spec) {
    const std::unique_ptr<Chain> chain = chain_of(spec);
    const TemporaryFolder scratch("train-dry-run");
    const double build = seconds_of([&] { build_examples(*chain, scratch.path()); });
    const auto set = examples::ExampleSet::load(scratch.path() / examples_folder);
    FinetuneSpec model = model_spec(spec, scratch.path());
    const bool records = model.task == examples::Task::sequences;
    const RunPlan plan =
        records ? plan_sequences(model, false) : plan_bins(model, resolve_threads(model.threads), false);
    const std::int64_t steps = plan.loop.learning_rate.total_steps;
    const auto networks = static_cast<double>(records ? model.sequence.members : 1);
    model.sequence.members = 1;
    model.learning_rate.total_steps = std::min(steps, trial_steps);
    model.evaluate_every = 0;
    model.calibrates = false;
    model.run.max_hours = 0;
    const double trial = seconds_of([&] { finetune(model); });
    const Rates rates = rates_of(model.output / (records ? "members/1" : "") / "metrics.jsonl");
    const double training =
        trial - rates.all_steps - rates.evaluation +
        networks * (rates.step * static_cast<double>(steps) + rates.evaluation * evaluations);
    const auto rows = [&](examples::Split split) { return static_cast<double>(set.rows(split).size()); };
    const double one_strand = rates.evaluation / std::max(1.0, rows(examples::Split::validation));
    const double others =
        2 * one_strand * rows(examples::Split::test) + static_cast<double>(set.size()) / ridge_rows_a_second;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return {fmt::format("{:<22}{}: {:.0f} for training, {:.0f} for validation, {:.0f} for test",
                        chain->unit(), chain->told(set), rows(examples::Split::train),
                        rows(examples::Split::validation), rows(examples::Split::test)),
            line_of("make the examples", build, " (done now, in $TMPDIR)"),
            line_of("train, at most", training,
                    fmt::format(": {}{} steps of {:.3g} s, {} of them tried; the motif search included",
                                networks > 1 ? fmt::format("{} networks, each ", networks) : "", steps,
                                rates.step, model.learning_rate.total_steps)),
            line_of("floor, scores, page", others, " (estimated from the above)"),
            fmt::format("{:<22}{:.0f} MB", "memory", static_cast<double>(usage.ru_maxrss) * 1024 / 1e6)};
}

}  // namespace bigbird::task_models
