// SPDX-License-Identifier: Apache-2.0
// From peaks to a judged bin model.
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/evaluation/evaluation_html.hpp"
#include "bigbird/examples/build/peak_sheet.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/task_models/files/card_figures.hpp"
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

/// Files by checksum, others as they are.
Json regions_checksum(const std::vector<std::string>& regions) {
    Json texts = Json::array();
    for (const std::string& text : regions)
        texts.push_back(is_there(text) ? "sha256:" + input_checksum(text) : text);
    return texts;
}

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

Json reference_checksum(const std::vector<fs::path>& references) {
    std::string text;
    for (const fs::path& reference : references) {
        const fs::path fasta = genome::fasta_of(reference);
        text += (fasta == reference ? "" : reference.string()) + '\t' + input_checksum(fasta) + '\n';
    }
    return "sha256:" + sha256_of_text(text);
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

class PeaksChain : public Chain {
public:
    explicit PeaksChain(const TrainSpec& spec) : spec_(spec) {}

    Json options() const override {
        const auto texts = [](const std::vector<std::string>& given) {
            return given.empty() ? Json("by rule") : Json(given);
        };
        const std::string& config = spec_.model.bins.config;
        return {{"--peaks", peaks_checksum(spec_.examples.peaks)},
                {"--reference", reference_checksum(spec_.examples.references)},
                {"--include", regions_checksum(spec_.examples.include)},
                {"--exclude", regions_checksum(spec_.examples.exclude)},
                {"--validation", texts(spec_.validation)},
                {"--test", texts(spec_.test)},
                {"--config", fs::is_regular_file(config) ? "sha256:" + input_checksum(config) : config},
                {"--min-positives", spec_.min_positives}};
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
