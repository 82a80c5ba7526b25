// SPDX-License-Identifier: Apache-2.0
// The steps from peaks to an evaluated bin model.
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/pipeline/chain.hpp"
#include "bigbird/task_models/pipeline/motif_logos.hpp"
#include "bigbird/task_models/pipeline/region_tracks.hpp"
#include "bigbird/task_models/train/finetune.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

Json peaks_checksum(const std::vector<fs::path>& peaks) {
    for (const fs::path& path : peaks)
        input_checksum(path);
    std::string text;
    for (const examples::LabelPeaks& label : examples::read_peak_files(peaks)) {
        text += label.group + '\t' + label.name;
        for (const fs::path& path : label.paths)
            text += '\t' + input_checksum(path);
        text += '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

/// Warns, by name, of labels without a bin in test or validation.
void warn_of_missing(const examples::ExampleSet& set,
                     const std::array<std::vector<std::int64_t>, 3>& counts) {
    constexpr std::size_t most_named = 8;
    for (const examples::Split split : examples::all_splits) {
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

class PeaksChain : public Chain {
public:
    explicit PeaksChain(const TrainSpec& spec) : spec_(spec) {}

    Json options() const override {
        Json options = genome_options(spec_);
        options.update(Json{{"--peaks", peaks_checksum(spec_.examples.peaks)},
                            {"--min-positives", spec_.min_positives}});
        return options;
    }

    void build(const fs::path& folder) const override {
        examples::ChromatinOptions options = spec_.examples;
        options.validation = spec_.validation;
        options.test = spec_.test;
        options.seed = spec_.model.seed;
        options.threads = resolve_threads(spec_.model.threads);
        examples::build_chromatin(options, folder);
    }

    void check(const examples::ExampleSet& set, const fs::path& folder) const override {
        const auto counts = count_positives(set);
        if (std::ranges::max(counts[static_cast<std::size_t>(examples::Split::test)]) == 0) {
            throw InputError(
                "no bin of test has a label, so the model could not be judged; give other --test, "
                "and --force to begin anew",
                folder);
        }
        warn_of_missing(set, counts);
    }

    FinetuneSpec floor() const override { return floor_spec(spec_.examples.bin); }
    Strands strands() const override { return Strands::average; }

    Judgement judge(const evaluation::EvaluationRequest& request, const fs::path& folder,
                    const fs::path& output) const override {
        const evaluation::EvaluationReport report = evaluation::evaluate_scores(request);
        const auto set = examples::ExampleSet::load(request.examples);
        Judgement judged{.lines = summary(report, set)};
        evaluation::PageAdditions additions{
            .title = folder.filename().string() + ": peaks from sequence",
            .lead = pages_lead(judged.lines, "ridge regression on the 5-mers of a bin's own bases")};
        additions.sections = tracks_html(spec_.examples, set, request.scores.back().path) +
                             logos_html(folder / run_folder / motif_file);
        judged.evaluation = evaluation::write_report(report, output, Overwrite::allow);
        judged.page = to_html(report, additions);
        judged.card = card_figures(request.task, request.split, report.files.back().evaluation);
        return judged;
    }

    std::string told(const examples::ExampleSet& set) const override {
        return fmt::format("{} of {} bp, {} labels", set.size(), spec_.examples.bin,
                           set.label_table().size());
    }
    const char* unit() const override { return "bins"; }

private:
    std::vector<std::string> summary(const evaluation::EvaluationReport& report,
                                     const examples::ExampleSet& set) const {
        const evaluation::FileEvaluation &of_floor = report.files.front(), &of_model = report.files.back();
        const evaluation::NamedFigures low = figures_of(of_floor.evaluation.groups.front()),
                                       high = figures_of(of_model.evaluation.groups.front()),
                                       more = differences_of(of_model, 0);
        const auto line = [&](const char* name, std::size_t i) {
            return compared(name, *high[i].second, *low[i].second, *more[i].second);
        };
        const evaluation::GroupFigures& all = of_model.evaluation.groups.front();
        return {fmt::format("examples {} bins of {} bp, {} labels; {}; {}", set.size(), spec_.examples.bin,
                            set.label_table().size(), held_out_text(set, examples::Split::validation),
                            held_out_text(set, examples::Split::test)),
                line("AUROC", 0) + fmt::format(" (means of {} labels with {} or more positive test bins)",
                                               all.defined, spec_.min_positives),
                line("AUPRC", 2) + fmt::format("; base rate {:.4f}", all.mean_base_rate.value_or(0))};
    }

    const TrainSpec& spec_;
};

}  // namespace

std::unique_ptr<Chain> peaks_chain(const TrainSpec& spec) {
    return std::make_unique<PeaksChain>(spec);
}

}  // namespace bigbird::task_models
