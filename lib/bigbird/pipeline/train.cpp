// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/train.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/finetuning/train_linear.hpp"
#include "bigbird/pipeline/recipe.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/training/run_start.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>
#include <sstream>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *floor_folder = "floor", *scores_folder = "scores", *model_folder = "model";
constexpr const char *evaluation_file = "evaluation.json", *page_file = "report.html";
constexpr const char* record_file = "train.json";  // options, and at the end the summary
constexpr std::array parts{examples_folder, run_folder,   floor_folder,     scores_folder, evaluation_file,
                           page_file,       model_folder, model::card_file, record_file};
constexpr const char* lock_file = "lock";

/// Options that determine the result, by name.
Json fixed_options(const TrainSpec& spec, const Recipe& recipe) {
    const std::int64_t steps = spec.model.learning_rate.total_steps;
    Json options = recipe.options();
    options["--seed"] = spec.model.seed;
    options[steps > 0 ? "--steps" : "--epochs"] = steps > 0 ? Json(steps) : Json(spec.model.epochs);
    return options;
}

/// Whether only the length differs, and training may go on from where it was. Steps beside epochs, which
/// cannot be compared here, are compared by the training, which refuses fewer before it changes anything:
/// only if there is a model.
bool may_go_on(Json before, Json now, bool trained) {
    const auto taken = [](Json& options, const char* name) {
        const double value = options.value(name, 0.0);
        options.erase(name);
        return value;
    };
    const double steps_before = taken(before, "--steps"), steps = taken(now, "--steps"),
                 epochs_before = taken(before, "--epochs"), epochs = taken(now, "--epochs");
    const bool comparable = (steps > 0) == (steps_before > 0);
    return before == now && (comparable ? steps > steps_before || epochs > epochs_before : trained);
}

/// The options of the model's training in train's folder.
FinetuneSpec model_spec(const TrainSpec& spec, const fs::path& folder) {
    FinetuneSpec model = spec.model;
    model.examples = folder / examples_folder;
    model.output = folder / run_folder;
    return model;
}

/// The options of the linear floor's training in train's folder.
FinetuneSpec floor_spec(const TrainSpec& spec, const Recipe& recipe, const fs::path& folder) {
    FinetuneSpec floor = recipe.floor();
    floor.examples = folder / examples_folder;
    floor.output = folder / floor_folder;
    floor.seed = spec.model.seed;
    floor.threads = spec.model.threads;
    return floor;
}

/// Makes the examples if they are missing.
void build_examples(const Recipe& recipe, const fs::path& folder) {
    if (is_there(folder / examples_folder / examples::manifest_name)) return;
    PendingOutput pending(folder / examples_folder, Overwrite::allow, PendingOutput::Kind::folder);
    recipe.build(pending.path());
    pending.commit();
}

class Pipeline {
public:
    explicit Pipeline(const TrainSpec& spec)
        : spec_(spec),
          recipe_(recipe_of(spec)),
          folder_(spec.output),
          options_(fixed_options(spec, *recipe_)) {}

    std::vector<std::string> run() {
        require_own_folder();
        const training::RunLock lock(folder_);
        if (spec_.force) discard();
        if (const auto before = begin()) return *before;
        step("make the examples", examples_folder);
        build_examples(*recipe_, folder_);
        recipe_->check(examples::ExampleSet::load(folder_ / examples_folder), folder_ / examples_folder);
        step("train the model", run_folder);
        train();
        step("solve the linear floor", floor_folder);
        finetune(floor_spec(spec_, *recipe_, folder_));
        step("score test", scores_folder);
        score("floor", folder_ / floor_folder);
        score("model", folder_ / run_folder);
        step("evaluate, and write the page and the card", page_file);
        return finish();
    }

private:
    /// Throws ConfigError if the folder contains files that train did not write.
    void require_own_folder() const {
        refuse_protected(folder_);
        if (is_there(folder_ / record_file)) return;
        for (const fs::path& entry : entries_of(folder_)) {
            const std::string name = entry.filename();
            if (fs::is_directory(entry) && fs::is_empty(entry)) continue;  // made by a workflow engine
            if (name == lock_file || (name.starts_with('.') && name.find(".tmp.") != std::string::npos))
                continue;
            throw ConfigError(folder_.string() + ": holds " + name + " and no " + record_file +
                              ", so train did not make it; give another --output");
        }
    }

    void discard() const {
        for (const char* part : parts)
            refuse_protected(folder_ / part);
        for (const char* part : parts)
            fs::remove_all(folder_ / part);
    }

    bool is_whole() const {
        return is_there(folder_ / model_folder / "config.json") &&
               std::ranges::all_of(
                   parts, [&](const char* part) { return is_there(folder_ / part); });
    }

    /// Whether there is a trained model, which only --force discards.
    bool is_trained() const {
        return std::ranges::any_of(
            std::array{folder_ / run_folder / training::model_folder, folder_ / model_folder},
            [](const fs::path& model) { return is_there(model / "config.json"); });
    }

    /// Records the options, or compares them with the recorded ones. Returns the summary if the folder is
    /// finished. A longer training goes on; until there is a model, other options begin anew.
    std::optional<std::vector<std::string>> begin() const {
        if (!is_there(folder_ / record_file)) {
            write_record(Json());
            return std::nullopt;
        }
        const Json record = read_json(folder_ / record_file),
                   before = record.value("options", Json::object());
        if (before == options_) {
            if (!record.contains("summary") || !is_whole()) return std::nullopt;
            log_info("{}: is finished already", folder_.string());
            return record["summary"].get<std::vector<std::string>>();
        }
        if (may_go_on(before, options_, is_trained())) return std::nullopt;
        if (is_trained()) training::require_same_options(before, options_, "--force");
        log_info("{}: begun with other options, and has no trained model yet: begins anew", folder_.string());
        discard();
        write_record(Json());
        return std::nullopt;
    }

    void write_record(const Json& summary) const {
        Json json{{"program", "bigbird-dna"}, {"version", std::string(version())}, {"options", options_}};
        if (!summary.is_null()) json["summary"] = summary;
        write_json(folder_ / record_file, json, Overwrite::allow);
    }

    /// Logs the next step. Throws Stopped.
    void step(const char* what, const char* part) {
        stop_if_asked();
        if (steps_ > 0 && spec_.model.run.max_hours > 0 && hours_left() <= 0)
            throw Stopped("stopped after --max-hours; the same command goes on", ExitCode::stopped_early);
        log_info("step {} of 5: {} ({})", ++steps_, what, (folder_ / part).string());
    }

    double hours_left() const {
        const std::chrono::duration<double, std::ratio<3600>> gone = Clock::now() - start_;
        return spec_.model.run.max_hours - gone.count();
    }

    void train() const {
        FinetuneSpec model = model_spec(spec_, folder_);
        if (model.run.max_hours > 0) model.run.max_hours = std::max(1e-9, hours_left());
        const training::LoopResult result = finetune(model);
        if (!result.finished_before) {  // what there is of an earlier, shorter training
            fs::remove(score_file("model"));
            write_record(Json());
        }
        if (const auto advice = still_improving(model, result)) log_info("{}", *advice);
    }

    fs::path score_file(const std::string& name) const {
        return folder_ / scores_folder / (name + ".tsv.gz");
    }

    void score(const std::string& name, const fs::path& run) const {
        if (is_there(score_file(name))) return;
        PredictSpec spec;
        spec.models = {run};
        spec.examples = folder_ / examples_folder;
        spec.split = examples::Split::test;
        spec.task = spec_.model.task;
        if (spec.task == examples::Task::chromatin) spec.strands = Strands::average;
        spec.outputs.paths = {score_file(name)};
        spec.device = spec_.model.device;
        spec.threads = spec_.model.threads;
        predict(spec);
    }

    /// Compares the model with the linear baseline.
    Judgement judge() const {
        evaluation::EvaluationRequest request;
        request.task = spec_.model.task;
        request.scores = {{"floor", score_file("floor")}, {"model", score_file("model")}};
        request.examples = folder_ / examples_folder;
        request.options.min_positives = spec_.min_positives;
        request.options.seed = spec_.model.seed;
        request.options.threads = resolve_threads(spec_.model.threads);
        return recipe_->judge(request, folder_, folder_ / evaluation_file);
    }

    std::vector<std::string> finish() const {
        const Judgement judged = judge();
        judged.evaluation->commit();
        write_atomically(folder_ / page_file, Overwrite::allow,
                         [&](std::ostream& out) { out << judged.page; });
        write_model(judged.card);
        std::vector<std::string> lines = judged.lines;
        lines.push_back(fmt::format("model    {}", (folder_ / model_folder).string()));
        lines.push_back(fmt::format("report   {}", (folder_ / page_file).string()));
        write_record(lines);
        return lines;
    }

    /// Writes model/, and adds the test results to its card, which is also copied to the folder.
    void write_model(const model::CardResult& result) const {
        PendingOutput pending(folder_ / model_folder, Overwrite::allow, PendingOutput::Kind::folder);
        for (const fs::path& file : entries_of(folder_ / run_folder / training::model_folder))
            fs::copy(file, pending.path() / file.filename(), fs::copy_options::recursive);
        model::add_to_card(pending.path(), result);
        PendingOutput text(folder_ / model::card_file, Overwrite::allow);
        fs::copy_file(pending.path() / model::card_file, text.path(), fs::copy_options::overwrite_existing);
        commit_together(std::array{&text, &pending});
    }

    const TrainSpec& spec_;
    const std::unique_ptr<Recipe> recipe_;
    const fs::path folder_;
    const Json options_;
    const Clock::time_point start_ = Clock::now();
    int steps_ = 0;
};

constexpr std::int64_t trial_steps = 12, slow_steps = 2;
constexpr double evaluations = 10;
/// Values of a resample whose figures a core of a Xeon computes in a second. Numbers are ranked again
/// each time.
constexpr double resampled_labels = 2e8, resampled_numbers = 5e6;

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

/// "bins                  4492 of 200 bp, 3 labels".
std::string size_of(const TrainSpec& spec, const examples::ExampleSet& set, bool records) {
    const std::string labels = counted(set.label_table().size(), noun_of(set));
    if (records) return fmt::format("{:<22}{}, {}", "sequences", set.size(), labels);
    if (!spec.promoters.tss.empty())
        return fmt::format("{:<22}{} of {} bp", "windows", set.size(), set.bounds().size());
    return fmt::format("{:<22}{} of {} bp, {}", "bins", set.size(),
                       spec.tracks.signals.empty() ? spec.examples.bin : spec.tracks.bin, labels);
}

std::string line_of(const char* name, double seconds, const std::string& what) {
    return fmt::format("{:<22}{}{}", name, Progress::duration(seconds), what);
}

}  // namespace

std::vector<std::string> train(const TrainSpec& spec) {
    return Pipeline(spec).run();
}

std::vector<std::string> forecast_train(const TrainSpec& spec) {
    const std::unique_ptr<Recipe> recipe = recipe_of(spec);
    const TemporaryFolder scratch("train-dry-run");
    const double build = seconds_of([&] { build_examples(*recipe, scratch.path()); });
    const auto set = examples::ExampleSet::load(scratch.path() / examples_folder);
    FinetuneSpec model = model_spec(spec, scratch.path());
    const bool records = model.task == examples::Task::sequences, promoters = !spec.promoters.tss.empty();
    const RunPlan plan = records     ? plan_sequences(model, false)
                         : promoters ? plan_windows(model, false)
                                     : plan_bins(model, resolve_threads(model.threads), false);
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
    const double floor = records || promoters
                             ? seconds_of([&] { finetune(floor_spec(spec, *recipe, scratch.path())); })
                             : ridge_seconds(set);
    const double test = rows(examples::Split::test),
                 one_pass = rates.evaluation / std::max(1.0, rows(examples::Split::validation));
    const double values = test * static_cast<double>(set.label_table().size()) *
                          static_cast<double>(evaluation::EvaluationOptions().resamples);
    const bool numbers = set.target() == examples::TargetKind::numbers;
    const double intervals =
        values / (numbers ? resampled_numbers : resampled_labels) / resolve_threads(model.threads);
    const double others = floor + (records ? networks : 2) * one_pass * test + intervals;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return {fmt::format("{}: {:.0f} for training, {:.0f} for validation, {:.0f} for test",
                        size_of(spec, set, records), rows(examples::Split::train),
                        rows(examples::Split::validation), rows(examples::Split::test)),
            line_of("make the examples", build, " (done now, in $TMPDIR)"),
            line_of("train, at most", training,
                    fmt::format(": {}{} steps of {:.3g} s, {} of them tried; the motif search included",
                                networks > 1 ? fmt::format("{} networks, each ", networks) : "", steps,
                                rates.step, model.learning_rate.total_steps)),
            line_of("floor, scores, page", others, " (estimated from the above)"),
            fmt::format("{:<22}{:.0f} MB", "memory", static_cast<double>(usage.ru_maxrss) * 1024 / 1e6)};
}

}  // namespace bigbird::tasks
