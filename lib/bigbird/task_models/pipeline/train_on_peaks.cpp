// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/pipeline/train_on_peaks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/evaluation/evaluate_scores.hpp"
#include "bigbird/evaluation/evaluation_html.hpp"
#include "bigbird/examples/build/peak_sheet.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/task_models/files/card_figures.hpp"
#include "bigbird/task_models/pipeline/motif_logos.hpp"
#include "bigbird/task_models/pipeline/region_tracks.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/train/finetune.hpp"
#include "bigbird/training/run_lock.hpp"
#include "bigbird/training/run_start.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>
#include <utility>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *floor_folder = "floor", *scores_folder = "scores", *model_folder = "model";
constexpr const char *evaluation_file = "evaluation.json", *page_file = "report.html";
constexpr const char* record_file = "train.json";  // options, and at the end the summary
constexpr std::array parts{examples_folder, run_folder,   floor_folder,     scores_folder, evaluation_file,
                           page_file,       model_folder, model::card_file, record_file};
constexpr const char* lock_file = "lock";

/// Read again where the command goes on, which a pipe cannot be.
std::string checksum_of(const fs::path& path) {
    require_readable(path);
    if (!fs::is_regular_file(path))
        throw ConfigError(path.string() + " is a pipe: train reads its inputs several times, give a file");
    return sha256_of_file(path, stop_if_asked);
}

/// Files by checksum, others as they are.
Json regions_checksum(const std::vector<std::string>& regions) {
    Json texts = Json::array();
    for (const std::string& text : regions)
        texts.push_back(is_there(text) ? "sha256:" + checksum_of(text) : text);
    return texts;
}

Json peaks_checksum(const std::vector<fs::path>& peaks) {
    for (const fs::path& path : peaks)
        checksum_of(path);
    std::string text;
    for (const examples::LabelPeaks& label : examples::read_peak_files(peaks)) {
        text += label.group + '\t' + label.name;
        for (const fs::path& path : label.paths)
            text += '\t' + checksum_of(path);
        text += '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

Json reference_checksum(const std::vector<fs::path>& references) {
    std::string text;
    for (const fs::path& reference : references) {
        const fs::path fasta = genome::fasta_of(reference);
        text += (fasta == reference ? "" : reference.string()) + '\t' + checksum_of(fasta) + '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

/// What the result follows from, by the options' names.
Json fixed_options(const TrainSpec& spec) {
    const auto texts = [](const std::vector<std::string>& given) {
        return given.empty() ? Json("by rule") : Json(given);
    };
    const std::int64_t steps = spec.model.learning_rate.total_steps;
    const std::string& config = spec.model.bins.config;
    Json options{{"--peaks", peaks_checksum(spec.examples.peaks)},
                 {"--reference", reference_checksum(spec.examples.references)},
                 {"--include", regions_checksum(spec.examples.include)},
                 {"--exclude", regions_checksum(spec.examples.exclude)},
                 {"--validation", texts(spec.examples.validation)},
                 {"--test", texts(spec.examples.test)},
                 {"--config", fs::is_regular_file(config) ? "sha256:" + checksum_of(config) : config},
                 {"--min-positives", spec.min_positives},
                 {"--seed", spec.model.seed}};
    options[steps > 0 ? "--steps" : "--epochs"] = steps > 0 ? Json(steps) : Json(spec.model.epochs);
    return options;
}

/// Labels that test or validation has no bin of, by name.
void warn_of_missing(const examples::ExampleSet& set,
                     const std::array<std::vector<std::int64_t>, 3>& counts) {
    constexpr std::size_t most_named = 8;
    for (const examples::Split split :
         {examples::Split::train, examples::Split::validation, examples::Split::test}) {
        if (set.rows(split).empty()) continue;
        std::string names;
        std::size_t missing = 0;
        for (std::size_t label = 0; label < set.label_table().size(); ++label) {
            if (counts[static_cast<std::size_t>(split)][label] > 0) continue;
            if (missing++ < most_named) names += (names.empty() ? "" : ", ") + set.label_table()[label].name;
        }
        if (missing == 0) continue;
        log_warning("{} of {} labels have no positive bin in {}: {}{}", missing, set.label_table().size(),
                    to_string(split), names, missing > most_named ? ", ..." : "");
    }
}

/// Positive rows of each label, by split.
std::array<std::vector<std::int64_t>, 3> count_positives(const examples::ExampleSet& set) {
    std::array<std::vector<std::int64_t>, 3> counts;
    counts.fill(std::vector<std::int64_t>(set.label_table().size()));
    std::vector<std::uint8_t> labels(set.label_table().size());
    for (std::int64_t row = 0; row < set.size(); ++row) {
        set.copy_labels(row, labels);
        std::vector<std::int64_t>& of_split = counts[static_cast<std::size_t>(set.split(row))];
        for (std::size_t label = 0; label < labels.size(); ++label)
            of_split[label] += labels[label];
    }
    return counts;
}

/// Throws where the model could not be judged, before it is trained.
void check_examples(const fs::path& folder) {
    const auto set = examples::ExampleSet::load(folder);
    const auto counts = count_positives(set);
    if (std::ranges::max(counts[static_cast<std::size_t>(examples::Split::test)]) == 0) {
        throw InputError(
            "no bin of test has a label, so the model could not be judged; give other --test, "
            "and --force to begin anew",
            folder);
    }
    warn_of_missing(set, counts);
}

std::string pages_lead(const std::vector<std::string>& lines) {
    std::string html = "<ul>";
    for (const std::string& line : lines)
        html += "<li>" + evaluation::escaped_html(line) + "</li>";
    return html +
           "</ul>\n<p>floor: ridge regression on the 5-mers of a bin's own bases. A model that does not "
           "beat it has learnt nothing but composition.</p>\n";
}

/// "22:1-200" of the manifest's "22:0-200", as --test takes it.
std::string region_text(const std::string& interval) {
    const std::size_t begin = interval.rfind(':') + 1;
    return interval.substr(0, begin) + std::to_string(std::stoll(interval.substr(begin)) + 1) +
           interval.substr(interval.rfind('-'));
}

/// "test 22:1-200 (1 bins)".
std::string held_out_text(const examples::ExampleSet& set, examples::Split split) {
    constexpr std::size_t most_named = 3;
    const std::string name(to_string(split));
    const Json regions = set.manifest().at("parameters").at("held_out").at(name);
    std::string text = regions.is_array() && regions.size() <= most_named ? "" : " given regions";
    for (std::size_t i = 0; text != " given regions" && i < regions.size(); ++i)
        text += (i > 0 ? ", " : " ") + region_text(regions[i].get<std::string>());
    return fmt::format("{}{} ({} bins)", name, text, set.rows(split).size());
}

class Pipeline {
public:
    explicit Pipeline(const TrainSpec& spec)
        : spec_(spec), folder_(spec.output), options_(fixed_options(spec)) {}

    std::vector<std::string> run() {
        require_own_folder();
        const training::RunLock lock(folder_);
        if (spec_.force) discard();
        if (const auto before = begin()) return *before;
        step("label the bins", examples_folder);
        build_examples(spec_, folder_);
        check_examples(folder_ / examples_folder);
        step("train the model", run_folder);
        train();
        step("solve the linear floor", floor_folder);
        finetune(floor_model());
        step("score the test bins", scores_folder);
        score("floor", folder_ / floor_folder);
        score("model", folder_ / run_folder);
        step("evaluate, and write the page and the card", page_file);
        return finish();
    }

private:
    /// Throws ConfigError where the folder holds what train did not put there.
    void require_own_folder() const {
        refuse_protected(folder_);
        if (is_there(folder_ / record_file)) return;
        for (const fs::path& entry : entries_of(folder_)) {
            const std::string name = entry.filename();
            if (fs::is_directory(entry) && fs::is_empty(entry)) continue;  // of a workflow engine
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
               std::ranges::all_of(parts, [&](const char* part) { return is_there(folder_ / part); });
    }

    /// Records the options, or compares them with those recorded; the summary of a folder that is finished.
    std::optional<std::vector<std::string>> begin() const {
        if (is_there(folder_ / record_file)) {
            const Json before = read_json(folder_ / record_file);
            training::require_same_options(before.value("options", Json::object()), options_, "--force");
            if (!before.contains("summary") || !is_whole()) return std::nullopt;
            log_info("{}: is finished already", folder_.string());
            return before["summary"].get<std::vector<std::string>>();
        }
        write_record(Json());
        return std::nullopt;
    }

    void write_record(const Json& summary) const {
        Json json{{"program", "bigbird-dna"}, {"version", std::string(version())}, {"options", options_}};
        if (!summary.is_null()) json["summary"] = summary;
        write_json(folder_ / record_file, json, Overwrite::allow);
    }

    /// Says what comes next. Throws Stopped.
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
        if (const auto advice = still_improving(model, result)) log_info("{}", *advice);
    }

    FinetuneSpec floor_model() const {
        FinetuneSpec spec = floor_spec(spec_.examples.bin);
        spec.examples = folder_ / examples_folder;
        spec.output = folder_ / floor_folder;
        spec.seed = spec_.model.seed;
        spec.threads = spec_.model.threads;
        return spec;
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
        spec.strands = Strands::average;
        spec.outputs.paths = {score_file(name)};
        spec.device = spec_.model.device;
        spec.threads = spec_.model.threads;
        predict(spec);
    }

    /// The model is compared with the floor.
    evaluation::EvaluationReport evaluate() const {
        evaluation::EvaluationRequest request;
        request.scores = {{"floor", score_file("floor")}, {"model", score_file("model")}};
        request.examples = folder_ / examples_folder;
        request.options.min_positives = spec_.min_positives;
        request.options.seed = spec_.model.seed;
        request.options.threads = resolve_threads(spec_.model.threads);
        return evaluation::evaluate_scores(request);
    }

    std::vector<std::string> finish() const {
        const evaluation::EvaluationReport report = evaluate();
        const auto set = examples::ExampleSet::load(folder_ / examples_folder);
        const std::vector<std::string> lines = summary(report, set);
        evaluation::PageAdditions additions{.title = folder_.filename().string() + ": peaks from sequence",
                                            .lead = pages_lead(lines)};
        additions.sections = tracks_html(spec_.examples, set, score_file("model")) +
                             logos_html(folder_ / run_folder / motif_file);
        evaluation::write_report(report, folder_ / evaluation_file, Overwrite::allow)->commit();
        write_atomically(folder_ / page_file, Overwrite::allow,
                         [&](std::ostream& out) { out << to_html(report, additions); });
        write_model(report);
        write_record(lines);
        return lines;
    }

    /// With the figures of test in its card, which the folder has, too.
    void write_model(const evaluation::EvaluationReport& report) const {
        PendingOutput pending(folder_ / model_folder, Overwrite::allow, PendingOutput::Kind::folder);
        for (const fs::path& file : entries_of(folder_ / run_folder / training::model_folder))
            fs::copy(file, pending.path() / file.filename(), fs::copy_options::recursive);
        model::add_to_card(pending.path(), card_figures(examples::Task::chromatin, examples::Split::test,
                                                        report.files.back().evaluation));
        PendingOutput text(folder_ / model::card_file, Overwrite::allow);
        fs::copy_file(pending.path() / model::card_file, text.path(), fs::copy_options::overwrite_existing);
        text.commit();
        pending.commit();
    }

    std::vector<std::string> summary(const evaluation::EvaluationReport& report,
                                     const examples::ExampleSet& set) const {
        const evaluation::FileEvaluation &of_floor = report.files.front(), &of_model = report.files.back();
        const evaluation::NamedFigures low = figures_of(of_floor.evaluation.groups.front()),
                                       high = figures_of(of_model.evaluation.groups.front()),
                                       more = differences_of(of_model, 0);
        const auto line = [&](const char* name, std::size_t i) {
            return fmt::format("{:<9}model {}; floor {}; difference {}", name, brief(*high[i].second),
                               brief(*low[i].second), brief(*more[i].second));
        };
        const evaluation::GroupFigures& all = of_model.evaluation.groups.front();
        return {fmt::format("examples {} bins of {} bp, {} labels; {}; {}", set.size(), spec_.examples.bin,
                            set.label_table().size(), held_out_text(set, examples::Split::validation),
                            held_out_text(set, examples::Split::test)),
                line("AUROC", 0) + fmt::format(" (means of {} labels with {} or more positive test bins)",
                                               all.defined, spec_.min_positives),
                line("AUPRC", 2) + fmt::format("; base rate {:.4f}", all.mean_base_rate.value_or(0)),
                fmt::format("model    {}", (folder_ / model_folder).string()),
                fmt::format("report   {}", (folder_ / page_file).string())};
    }

    const TrainSpec& spec_;
    const fs::path folder_;
    const Json options_;
    const Clock::time_point start_ = Clock::now();
    int steps_ = 0;
};

}  // namespace

FinetuneSpec model_spec(const TrainSpec& spec, const fs::path& folder) {
    FinetuneSpec model = spec.model;
    model.examples = folder / examples_folder;
    model.output = folder / run_folder;
    return model;
}

void build_examples(const TrainSpec& spec, const fs::path& folder) {
    if (is_there(folder / examples_folder / examples::manifest_name)) return;
    examples::ChromatinOptions options = spec.examples;
    options.seed = spec.model.seed;
    options.threads = resolve_threads(spec.model.threads);
    PendingOutput pending(folder / examples_folder, Overwrite::allow, PendingOutput::Kind::folder);
    examples::build_chromatin(options, pending.path());
    pending.commit();
}

std::vector<std::string> train_on_peaks(const TrainSpec& spec) {
    spec.model.validate();
    return Pipeline(spec).run();
}

}  // namespace bigbird::task_models
