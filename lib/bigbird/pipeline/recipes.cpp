// SPDX-License-Identifier: Apache-2.0
// The steps from peaks, from coverage and from labeled sequences to an evaluated model.
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/pipeline/held_out.hpp"
#include "bigbird/pipeline/page_sections.hpp"
#include "bigbird/pipeline/recipe.hpp"
#include "bigbird/pipeline/report_page.hpp"
#include "bigbird/rows/sequence_reader.hpp"
#include "bigbird/tasks/files/task_files.hpp"

#include <algorithm>
#include <array>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using examples::ExampleSet, examples::SequencesOptions, examples::Split, examples::TargetKind;

/// SHA-256 of an input that is read again when the command resumes. Throws ConfigError for a pipe.
std::string input_checksum(const fs::path& path) {
    require_readable(path);
    if (!fs::is_regular_file(path))
        throw ConfigError(path.string() + " is a pipe: train reads its inputs several times, give a file");
    return sha256_of_file(path, stop_if_asked);
}

/// Replaces files by their checksums; other regions stay unchanged.
Json regions_checksum(const std::vector<std::string>& regions) {
    Json texts = Json::array();
    for (const std::string& text : regions)
        texts.push_back(is_there(text) ? "sha256:" + input_checksum(text) : text);
    return texts;
}

Json reference_checksum(const std::vector<fs::path>& references) {
    std::string text;
    for (const fs::path& reference : references) {
        const fs::path fasta = genome::fasta_of(reference);
        text += (fasta == reference ? "" : reference.string()) + '\t' + input_checksum(fasta) + '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

}  // namespace

Json signal_checksum(const std::vector<fs::path>& signals) {
    std::string text;
    for (const fs::path& path : signals) {
        text += input_checksum(path) + '\n';
        if (signals.size() > 1 || examples::is_binary_signal(path)) continue;
        for (const examples::SheetRow& row :
             examples::read_sheet(path).value_or(std::vector<examples::SheetRow>()))
            for (const fs::path& file : examples::paths_of(row, path))
                text += input_checksum(file) + '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

Json genome_options(const TrainSpec& spec) {
    const auto texts = [](const std::vector<std::string>& given) {
        return given.empty() ? Json("by rule") : Json(given);
    };
    const std::string& config = spec.model.bins.config;
    return {{"--reference", reference_checksum(spec.examples.references)},
            {"--include", regions_checksum(spec.examples.include)},
            {"--exclude", regions_checksum(spec.examples.exclude)},
            {"--validation", texts(spec.validation)},
            {"--test", texts(spec.test)},
            {"--config", fs::is_regular_file(config) ? "sha256:" + input_checksum(config) : config}};
}

Json peaks_checksum(const std::vector<fs::path>& peaks) {
    for (const fs::path& path : peaks)
        input_checksum(path);
    std::string text;
    for (const examples::LabelFiles& label : examples::read_label_files(peaks)) {
        text += label.group + '\t' + label.name;
        for (const fs::path& path : label.paths)
            text += '\t' + input_checksum(path);
        text += '\n';
    }
    return "sha256:" + sha256_of_text(text);
}

namespace {

/// Converts the manifest's "22:0-200" to "22:1-200", the form of --test.
std::string region_text(const std::string& interval) {
    const std::size_t begin = interval.rfind(':') + 1;
    return interval.substr(0, begin) + std::to_string(std::stoll(interval.substr(begin)) + 1) +
           interval.substr(interval.rfind('-'));
}

/// "test 22:1-200 (1 bin)".
std::string held_out_text(const ExampleSet& set, Split split) {
    constexpr std::size_t most_named = 3;
    const std::string name(to_string(split));
    const Json regions = set.manifest().at("parameters").at("held_out").at(name);
    std::string text;
    if (!regions.is_array()) text = " given regions";
    if (regions.is_array() && regions.size() > most_named) text = fmt::format(" {} regions", regions.size());
    for (std::size_t i = 0; regions.is_array() && regions.size() <= most_named && i < regions.size(); ++i)
        text += (i > 0 ? ", " : " ") + region_text(regions[i].get<std::string>());
    return fmt::format("{}{} ({})", name, text, counted(set.rows(split).size(), "bin"));
}

/// "55 bins of 200 bp, 3 labels; validation …; test …".
std::string bins_text(const ExampleSet& set, std::int64_t bin) {
    return fmt::format("{} of {} bp, {}; {}; {}", counted(set.size(), "bin"), bin,
                       counted(set.label_table().size(), noun_of(set)), held_out_text(set, Split::validation),
                       held_out_text(set, Split::test));
}

/// Writes the page: the verdict and what the floor is, the report, and the examples in words.
std::string page_of(const evaluation::EvaluationReport& report, evaluation::PageAdditions page,
                    const std::string& examples, const std::string& floor) {
    page.lead = "<p><b>" + evaluation::escaped_html(verdict(report)) + "</b></p>\n<p>floor: " + floor +
                ". A model that does not beat it has learnt nothing but composition.</p>\n";
    page.made_from["examples"] = examples;
    return to_html(report, page);
}

/// "AUROC    model 0.9; floor 0.8; difference 0.1".
std::string compared(const std::string& name, const evaluation::Figure& model,
                     const evaluation::Figure& floor, const evaluation::Figure& difference) {
    return fmt::format("{:<8} model {}; floor {}; difference {}", name, evaluation::brief(model),
                       evaluation::brief(floor), evaluation::brief(difference));
}

/// Recipe::judge() of sequences and of numbers of bins. `examples`: their number and kind.
Judgement judge_numbers(const evaluation::EvaluationRequest& request, const fs::path& output,
                        const std::string& examples, const std::string& floor_name,
                        const evaluation::PageAdditions& page) {
    const evaluation::EvaluationReport report = evaluation::evaluate(request);
    const evaluation::FileEvaluation &floor = report.files.front(), &model = report.files.back();
    Judgement judged{.lines = {"examples " + examples}};
    for (std::size_t i = 0; i < report.names.size(); ++i)
        judged.lines.push_back(
            compared(report.names[i], model.figures.all[i], floor.figures.all[i], model.difference->all[i]));
    judged.evaluation = evaluation::write_report(report, output, Overwrite::allow);
    judged.page = page_of(report, page, examples, floor_name);
    judged.card = card_figures(report, model);
    return judged;
}

class PeaksRecipe : public Recipe {
public:
    using Recipe::Recipe;

    Json options() const override {
        Json options = genome_options(spec_);
        options.update(Json{{"--peaks", peaks_checksum(spec_.examples.peaks)},
                            {"--min-positives", spec_.min_positives}});
        if (spec_.examples.negatives) options["--negatives"] = to_json(*spec_.examples.negatives);
        if (spec_.folds > 0) options["--folds"] = {spec_.folds, spec_.fold};
        return options;
    }

    void build(const fs::path& folder) const override {
        examples::ChromatinOptions options = spec_.examples;
        options.validation = spec_.validation;
        options.test = spec_.test;
        options.seed = spec_.model.seed;
        options.threads = resolve_threads(spec_.model.threads);
        options.folds = static_cast<std::size_t>(spec_.folds);
        options.fold = static_cast<std::size_t>(std::max(spec_.fold, 1) - 1);
        options.gap = bins_config(spec_.model.bins, spec_.model.dropout, options.bin).window_bases();
        examples::build_chromatin(options, folder);
    }

    void check(const ExampleSet& set, const fs::path& folder) const override { check_positives(set, folder); }

    std::int64_t min_positives(const fs::path& folder) const override {
        return fewest_positives(ExampleSet::load(folder), spec_.min_positives);
    }

    FinetuneSpec floor() const override {
        FinetuneSpec floor;
        floor.architecture = kmer_ridge_name;
        floor.window =
            rows::WindowBounds{-(spec_.examples.bin / 2), spec_.examples.bin - spec_.examples.bin / 2};
        floor.linear.word = 5;
        return floor;
    }

    Judgement judge(const evaluation::EvaluationRequest& request, evaluation::PageAdditions page,
                    const fs::path& output) const override {
        const evaluation::EvaluationReport report = evaluation::evaluate(request);
        const auto set = ExampleSet::load(request.examples);
        Judgement judged{.lines = summary(report, set)};
        page.title += ": peaks from sequence";
        page.sections += tracks_html(spec_.examples, set, request.scores.back().path);
        judged.evaluation = evaluation::write_report(report, output, Overwrite::allow);
        judged.page = page_of(report, std::move(page), bins_text(set, spec_.examples.bin),
                              "ridge regression on the 5-mers of a bin's own bases");
        judged.card = card_figures(report, report.files.back());
        return judged;
    }

private:
    std::vector<std::string> summary(const evaluation::EvaluationReport& report,
                                     const ExampleSet& set) const {
        const evaluation::FileEvaluation &floor = report.files.front(), &model = report.files.back();
        const auto line = [&](const char* name, std::size_t i) {
            return compared(name, model.figures.all[i], floor.figures.all[i], model.difference->all[i]);
        };
        const evaluation::Group& all = report.groups.front();
        const auto least = report.about["parameters"]["min_positives"].get<std::int64_t>();
        std::vector<std::string> lines{
            "examples " + bins_text(set, spec_.examples.bin),
            line("AUROC", 0) + fmt::format(" (over {} with {} or more positive test bins)",
                                           counted(all.members.size(), "label"), least),
            line("AUPRC", 2) + "; base rate " + evaluation::share_text(all.mean_base_rate.value_or(0))};
        if (const auto few = few_positives_text(report)) lines.push_back(*few);
        return lines;
    }
};

constexpr const char* drawn_splits = "similarity:0.8,0.1,0.1";

/// The options for build-sequences.
SequencesOptions options_of(const TrainSpec& spec) {
    SequencesOptions options = spec.sequences;
    if (spec.validation.size() > 1 || spec.test.size() > 1)
        throw ConfigError("--validation and --test take one table each");
    if (!spec.validation.empty()) options.validation = spec.validation.front();
    if (!spec.test.empty()) options.test = spec.test.front();
    if (!spec.validation.empty() && spec.test.empty())
        throw ConfigError("--test is needed beside --validation: the model is judged on it");
    if (spec.test.empty() && options.split_by.empty()) options.split_by = drawn_splits;
    options.seed = spec.model.seed;
    options.validate();
    return options;
}

class SequencesRecipe : public Recipe {
public:
    explicit SequencesRecipe(const TrainSpec& spec) : Recipe(spec), options_(options_of(spec)) {}

    Json options() const override {
        const auto sum = [](const fs::path& path) {
            return path.empty() ? Json("none") : Json("sha256:" + input_checksum(path));
        };
        Json fasta = Json::array();
        for (const fs::path& path : options_.fasta)
            fasta.push_back({path.stem(), sum(path)});
        const bool has_sequences = options_.fasta.empty();
        return {{"--table", has_sequences ? sum(options_.table) : "none"},
                {"--fasta", fasta},
                {"--targets", has_sequences ? "none" : sum(options_.table)},
                {"--validation", sum(options_.validation)},
                {"--test", sum(options_.test)},
                {"--sequence-column", options_.sequence_column},
                {"--header", word_of(rows::header_choices, options_.header)},
                {"--label-column", options_.label_column},
                {"--labels", options_.labels},
                {"--target", word_of(examples::target_choices, options_.target_kind())},
                {"--split-by", options_.split_by},
                {"--config", sum(spec_.model.sequence.config)},
                {"--strand", word_of(record_strands, spec_.model.sequence.strand)},
                {"--members", spec_.model.sequence.members}};
    }

    void build(const fs::path& folder) const override { examples::build_sequences(options_, folder); }

    FinetuneSpec floor() const override {
        FinetuneSpec floor = sequence_model_spec();
        floor.architecture = is_number() ? kmer_ridge_name : kmer_logistic_name;
        floor.sequence.strand = spec_.model.sequence.strand;
        return floor;
    }

    Judgement judge(const evaluation::EvaluationRequest& request, evaluation::PageAdditions page,
                    const fs::path& output) const override {
        const auto set = ExampleSet::load(request.examples);
        const auto rows = [&](Split split) { return set.rows(split).size(); };
        page.title += ": labels from sequence";
        return judge_numbers(
            request, output,
            fmt::format("{}, {}; {} for training, {} for validation, {} for test",
                        counted(set.size(), "sequence"), counted(set.label_table().size(), noun_of(set)),
                        rows(Split::train), rows(Split::validation), rows(Split::test)),
            is_number() ? "ridge regression on k-mers" : "logistic regression on k-mers", page);
    }

private:
    bool is_number() const { return options_.target_kind() == TargetKind::numbers; }

    const SequencesOptions options_;
};

class TracksRecipe : public Recipe {
public:
    explicit TracksRecipe(const TrainSpec& spec) : Recipe(spec) {
        if (spec.tracks.bin < 16)
            throw ConfigError(
                "train takes a --bin of 16 or more; for profiles at single bases give --peaks instead, such "
                "as "
                "those of `macs3 callpeak -f BAMPE --call-summits -t FILE -g SIZE -n NAME`");
    }

    Json options() const override {
        Json options = genome_options(spec_);
        options["--signal"] = signal_checksum(spec_.tracks.signals);
        options["--bin"] = spec_.tracks.bin;
        const examples::SignalReading& reading = spec_.tracks.reading;
        options["--assay"] = word_of(examples::assays, reading.assay);
        options["--count"] = word_of(examples::counted_choices, reading.counted);
        options["--shift"] = reading.has_shift ? Json{reading.begin_shift, reading.end_shift} : Json("found");
        options["--min-mapq"] = reading.filter.min_mapq;
        options["--keep-duplicates"] = reading.filter.keep_duplicates;
        return options;
    }
    void build(const fs::path& folder) const override {
        examples::TrackOptions options = spec_.tracks;
        options.references = spec_.examples.references;
        options.include = spec_.examples.include;
        options.exclude = spec_.examples.exclude;
        options.validation = spec_.validation;
        options.test = spec_.test;
        options.chooses_hold_outs = true;
        options.reading.skip_invalid = spec_.examples.skip_invalid;
        options.reading.threads = resolve_threads(spec_.model.threads);
        examples::build_tracks(options, folder);
    }
    FinetuneSpec floor() const override {
        FinetuneSpec floor;
        floor.architecture = kmer_ridge_name;
        return floor;
    }
    Judgement judge(const evaluation::EvaluationRequest& request, evaluation::PageAdditions page,
                    const fs::path& output) const override {
        const auto set = ExampleSet::load(request.examples);
        page.title += ": coverage from sequence";
        return judge_numbers(request, output, bins_text(set, spec_.tracks.bin),
                             "ridge regression on the k-mers of nine bins", page);
    }
};

class PromotersRecipe : public Recipe {
public:
    using Recipe::Recipe;

    Json options() const override {
        Json options = genome_options(spec_);
        options.erase("--config");
        options["--tss"] = "sha256:" + input_checksum(spec_.promoters.tss);
        return options;
    }
    void build(const fs::path& folder) const override {
        examples::PromoterOptions options = spec_.promoters;
        options.references = spec_.examples.references;
        options.validation = spec_.validation;
        options.test = spec_.test;
        options.skip_invalid = spec_.examples.skip_invalid;
        options.seed = spec_.model.seed;
        options.threads = resolve_threads(spec_.model.threads);
        examples::build_promoters(options, folder);
    }
    FinetuneSpec floor() const override {
        FinetuneSpec floor = promoter_model_spec();
        floor.architecture = kmer_ridge_name;
        return floor;
    }
    Judgement judge(const evaluation::EvaluationRequest& request, evaluation::PageAdditions page,
                    const fs::path& output) const override {
        const auto set = ExampleSet::load(request.examples);
        const auto rows = [&](Split split) { return set.rows(split).size(); };
        page.title += ": promoters from sequence";
        return judge_numbers(
            request, output,
            fmt::format(
                "{} of {} bases, half of them promoters, the others from elsewhere in the genome; {} for "
                "training, {} for validation, {} for test",
                counted(set.size(), "window"), set.bounds().size(), rows(Split::train),
                rows(Split::validation), rows(Split::test)),
            "ridge regression on the 5-mers of a window", page);
    }
};

}  // namespace

std::string_view noun_of(const ExampleSet& set) {
    if (set.target() == TargetKind::numbers) return set.traits().has_bins ? "track" : "number";
    return set.target() == TargetKind::classes ? "class" : "label";
}

void Recipe::check(const ExampleSet& set, const fs::path& folder) const {
    if (!set.rows(Split::test).empty()) return;
    const bool records = set.traits().has_records;
    throw InputError(fmt::format("no {} is of test, so the model could not be judged; give other {}",
                                 records ? "row" : "bin", records ? "shares" : "--test"),
                     folder);
}

std::unique_ptr<Recipe> recipe_of(const TrainSpec& spec) {
    spec.model.validate();
    if (traits_of(spec.model.task).has_records) return std::make_unique<SequencesRecipe>(spec);
    if (!spec.promoters.tss.empty()) return std::make_unique<PromotersRecipe>(spec);
    if (spec.tracks.signals.empty()) return std::make_unique<PeaksRecipe>(spec);
    return std::make_unique<TracksRecipe>(spec);
}

}  // namespace bigbird::tasks
