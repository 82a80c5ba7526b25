// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/train.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/finetuning/train_linear.hpp"
#include "bigbird/pipeline/folds.hpp"
#include "bigbird/pipeline/recipe.hpp"
#include "bigbird/pipeline/report_motifs.hpp"
#include "bigbird/pipeline/report_page.hpp"
#include "bigbird/pipeline/train_folder.hpp"
#include "bigbird/pipeline/train_profiles.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/tasks/files/task_files.hpp"
#include "bigbird/training/run_start.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

constexpr const char* floor_folder = "floor";
constexpr std::array parts{examples_folder, run_folder,   floor_folder,     scores_folder, evaluation_file,
                           page_file,       model_folder, model::card_file, record_file};

/// Options that determine the result, by name.
Json fixed_options(const TrainSpec& spec, const Recipe& recipe) {
    const std::int64_t steps = spec.model.learning_rate.total_steps;
    Json options = recipe.options();
    options["--seed"] = spec.model.seed;
    options[steps > 0 ? "--steps" : "--epochs"] = steps > 0 ? Json(steps) : Json(spec.model.epochs);
    return options;
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

/// Throws InputError.
std::vector<motifs::Motif> known_motifs(const TrainSpec& spec) {
    if (spec.known_motifs.empty()) return {};
    return motifs::read_motifs(spec.known_motifs).motifs;
}

/// Rows to search motifs in; none for promoters, whose network gives bases no contributions.
std::vector<MotifRows> motif_rows(const TrainSpec& spec, const examples::ExampleSet& set,
                                  std::int64_t most = 150) {
    return spec.promoters.tss.empty() ? choose_motif_rows(set, most) : std::vector<MotifRows>();
}

/// The motifs of the model in train's folder.
std::vector<LearnedMotifs> learned_motifs_of(const TrainSpec& spec, const examples::ExampleSet& set,
                                             std::vector<MotifRows> rows, const fs::path& folder) {
    return learned_motifs(set, std::move(rows), folder / run_folder, spec.examples.references,
                          spec.model.device, spec.model.threads);
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
          options_(fixed_options(spec, *recipe_)),
          known_(known_motifs(spec)) {}

    std::vector<std::string> run() {
        require_own_folder(folder_);
        const training::RunLock lock(folder_);
        if (spec_.force) discard();
        if (const auto before = begin()) return *before;
        if (has_folds()) {
            train_folds(spec_, [this] { return steps_.hours_left(); });
            return finish();
        }
        steps_.next("make the examples", examples_folder);
        build_examples(*recipe_, folder_);
        recipe_->check(examples::ExampleSet::load(folder_ / examples_folder), folder_ / examples_folder);
        steps_.next("train the model", run_folder);
        train();
        steps_.next("solve the linear floor", floor_folder);
        finetune(floor_spec(spec_, *recipe_, folder_));
        steps_.next("score test", scores_folder);
        score("floor", folder_ / floor_folder);
        score("model", folder_ / run_folder);
        steps_.next("evaluate, and write the page and the card", page_file);
        return finish();
    }

private:
    /// Whether its parts are those of several folds.
    bool has_folds() const { return spec_.folds > 0 && spec_.fold == 0; }

    void discard() const {
        for (const char* part : parts)
            refuse_protected(folder_ / part);
        for (const char* part : parts)
            fs::remove_all(folder_ / part);
        fs::remove_all(folder_ / folds_folder);
    }

    bool is_whole() const {
        return is_there(folder_ / model_folder / "config.json") &&
               std::ranges::all_of(
                   parts,
                   [&](const std::string part) {
                       const bool of_one_run = part == run_folder || part == floor_folder;
                       return is_there(folder_ / part) || (has_folds() && of_one_run);
                   });
    }

    /// Whether there is a trained model, which only --force discards.
    bool is_trained() const {
        return std::ranges::any_of(
            std::array{folder_ / run_folder / training::model_folder, folder_ / model_folder,
                       folder_ / folds_folder / "1" / run_folder / training::model_folder},
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
            const bool other_motifs = known_sum() != "" && record.value("known_motifs", "") != known_sum();
            if (!record.contains("summary") || !is_whole() || other_motifs) return std::nullopt;
            log_info("{}: is finished already", folder_.string());
            return record["summary"].get<std::vector<std::string>>();
        }
        if (may_go_on(before, options_, is_trained())) {
            if (has_folds()) {  // what there is of an earlier, shorter training
                fs::remove_all(folder_ / scores_folder);
                write_record(Json());
            }
            return std::nullopt;
        }
        if (is_trained()) training::require_same_options(before, options_, "--force");
        log_info("{}: begun with other options, and has no trained model yet: begins anew", folder_.string());
        discard();
        write_record(Json());
        return std::nullopt;
    }

    void write_record(const Json& summary) const {
        write_train_record(folder_, options_, summary,
                           spec_.known_motifs.empty() ? Json::object() : Json{{"known_motifs", known_sum()}});
    }

    /// Checksum of the known motifs, which change nothing but the page.
    std::string known_sum() const {
        return spec_.known_motifs.empty() ? "" : sha256_of_file(spec_.known_motifs);
    }

    void train() const {
        FinetuneSpec model = model_spec(spec_, folder_);
        model.run.max_hours = steps_.max_hours();
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
        if (traits_of(spec.task).has_bins) spec.strands = Strands::average;
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
        if (has_folds()) request.rows = evaluation::WantedRows::scored;
        request.options.min_positives = recipe_->min_positives(request.examples);
        request.options.seed = spec_.model.seed;
        request.options.threads = resolve_threads(spec_.model.threads);
        const auto set = examples::ExampleSet::load(request.examples);
        evaluation::PageAdditions page{.title = folder_.filename().string(),
                                       .sections = has_folds()
                                                       ? fold_links(spec_.folds)
                                                       : curves_html(folder_ / run_folder) + learned(set),
                                       .made_from = made_from(spec_.command, options_, set)};
        return recipe_->judge(request, std::move(page), folder_ / evaluation_file);
    }

    /// Finds the motifs that the model learned, and writes them. Returns a section of the page.
    std::string learned(const examples::ExampleSet& set) const {
        const auto found = learned_motifs_of(spec_, set, motif_rows(spec_, set), folder_);
        motifs::MotifSet all;
        for (const LearnedMotifs& of_label : found)
            all.motifs.insert(all.motifs.end(), of_label.motifs.begin(), of_label.motifs.end());
        if (!all.motifs.empty())
            motifs::write_motifs(folder_ / run_folder / learned_file, all, Overwrite::allow);
        return motifs_html(found, set, known_);
    }

    std::vector<std::string> finish() const {
        Judgement judged = judge();
        if (has_folds()) {
            judged.lines.push_back(
                fmt::format("folds    {}: each bin is scored by the model that did not see it", spec_.folds));
            judged.card.data =
                fmt::format("{}, each scored by the one of {} networks that did not see it",
                            judged.card.data.substr(0, judged.card.data.find(" of test")), spec_.folds);
        }
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
        if (has_folds())
            copy_fold_models(spec_, pending.path());
        else
            fs::copy(folder_ / run_folder / training::model_folder, pending.path(),
                     fs::copy_options::recursive);
        model::add_to_card(pending.path(), result);
        PendingOutput text(folder_ / model::card_file, Overwrite::allow);
        fs::copy_file(pending.path() / model::card_file, text.path(), fs::copy_options::overwrite_existing);
        commit_together(std::array{&text, &pending});
    }

    const TrainSpec& spec_;
    const std::unique_ptr<Recipe> recipe_;
    const fs::path folder_;
    const Json options_;
    const std::vector<motifs::Motif> known_;
    TrainSteps steps_{folder_, 5, spec_.model.run.max_hours};
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

/// The sequences in which motifs will be searched, and the seconds, from one and then some of each label.
std::pair<std::int64_t, double> forecast_motifs(const TrainSpec& spec, const examples::ExampleSet& set,
                                                const fs::path& folder) {
    constexpr std::int64_t some = 11;
    const auto count = [&](const std::vector<MotifRows>& chosen) {
        std::int64_t rows = 0;
        for (const MotifRows& of_label : chosen)
            rows += std::ssize(of_label.rows);
        return static_cast<double>(rows);
    };
    const std::vector<MotifRows> all = motif_rows(spec, set), one = motif_rows(spec, set, 1),
                                 few = motif_rows(spec, set, some);
    const double fixed = seconds_of([&] { learned_motifs_of(spec, set, one, folder); }),
                 more = seconds_of([&] { learned_motifs_of(spec, set, few, folder); }) - fixed;
    return {static_cast<std::int64_t>(count(all)),
            fixed + std::max(0.0, more) * count(all) / std::max(1.0, count(few) - count(one))};
}

std::string line_of(const char* name, double seconds, const std::string& what) {
    return fmt::format("{:<22}{}{}", name, Progress::duration(seconds), what);
}

}  // namespace

std::vector<std::string> train(const TrainSpec& spec) {
    if (spec.makes_profiles()) return train_profiles(spec);
    return Pipeline(spec).run();
}

std::vector<std::string> forecast_train(const TrainSpec& spec) {
    if (spec.makes_profiles()) return forecast_profiles(spec);
    const TrainSpec one = spec.folds > 0 ? fold_spec(spec, 1) : spec;
    const std::unique_ptr<Recipe> recipe = recipe_of(one);
    const double folds = std::max(spec.folds, 1);
    known_motifs(spec);
    const TemporaryFolder scratch("train-dry-run");
    const double build = seconds_of([&] { build_examples(*recipe, scratch.path()); });
    const auto set = examples::ExampleSet::load(scratch.path() / examples_folder);
    recipe->check(set, scratch.path() / examples_folder);
    FinetuneSpec model = model_spec(spec, scratch.path());
    const bool records = traits_of(model.task).has_records, promoters = !spec.promoters.tss.empty();
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
    const auto [sequences, motif_seconds] = forecast_motifs(spec, set, scratch.path());
    const double others = floor + (records ? networks : 2) * one_pass * test + intervals;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return {
        fmt::format("{}: {:.0f} for training, {:.0f} for validation, {:.0f} for test",
                    size_of(spec, set, records), rows(examples::Split::train),
                    rows(examples::Split::validation), rows(examples::Split::test)),
        line_of("make the examples", spec.folds > 0 ? build * (folds + 1) : build, " (done now, in $TMPDIR)"),
        line_of("train, at most", training * folds,
                fmt::format(": {}{}{} steps of {:.3g} s, {} of them tried; the motif search included",
                            spec.folds > 0 ? fmt::format("{} folds, each ", spec.folds) : "",
                            networks > 1 ? fmt::format("{} networks, each ", networks) : "", steps,
                            rates.step, model.learning_rate.total_steps)),
        line_of("floor, scores, page", others * folds, " (estimated from the above)"),
        line_of("motifs", motif_seconds * folds,
                fmt::format(": what the model learned, in {}", counted(sequences, "sequence"))),
        fmt::format("{:<22}{:.0f} MB", "memory", static_cast<double>(usage.ru_maxrss) * 1024 / 1e6)};
}

}  // namespace bigbird::tasks
