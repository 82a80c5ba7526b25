// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/rows/sequence_reader.hpp"
#include "bigbird/task_models/score/letter_outputs.hpp"
#include "bigbird/task_models/score/mutagenesis.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/score_rows.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

rows::Provenance provenance_of(const MutagenesisSpec& spec, std::span<const ModelFolder> models) {
    rows::Provenance provenance{{"bigbird-dna", std::string(version())}};
    for (const ModelFolder& model : models)
        provenance.emplace_back("model_sha256", model.sha256);
    provenance.emplace_back("effect", std::string(to_string(spec.quantity)));
    provenance.emplace_back("score", std::string(word_of(mutagenesis_score_choices, spec.score)));
    provenance.emplace_back("reverse_complement", word_of(strand_choices, spec.strands));
    return provenance;
}

/// Reorders effects (bases, 4, labels) to (selected labels, bases, 4).
std::vector<float> by_label(std::span<const float> effects, std::size_t labels,
                            std::span<const std::size_t> chosen) {
    std::vector<float> turned;
    for (const std::size_t label : chosen)
        for (std::size_t i = label; i < effects.size(); i += labels)
            turned.push_back(effects[i]);
    return turned;
}

/// Writes a row for each stretch, with a column for each label.
class StretchWriter {
public:
    StretchWriter(const MutagenesisSpec& spec, std::span<const ModelFolder> models,
                  std::span<const genome::Contig> contigs, int threads)
        : choice_(choose_labels(models.front().labels, spec.labels)),
          outputs_(spec.outputs, layout_of(spec, models), choice_.tracks, contigs, threads) {}

    void write(const MutatedRow& row, MutationEffects& all) {
        all.stretches(
            row,
            [&](const genome::Interval& stretch, const std::vector<float>& effects) {
                rows::Row head = row.head;
                head.where = stretch;
                std::vector<float> chosen;
                for (const std::size_t label : effects.empty() ? std::vector<std::size_t>() : choice_.labels)
                    chosen.push_back(effects[label]);
                outputs_.write(rows::fields_of(head), chosen);
            });
    }
    void commit() { outputs_.commit(); }

private:
    static outputs::TableSchema layout_of(const MutagenesisSpec& spec, std::span<const ModelFolder> models) {
        const rows::LabelTable& labels = models.front().labels;
        outputs::TableSchema schema{outputs::region_head(),
                                    outputs::label_columns(labels, choose_labels(labels, spec.labels).labels),
                                    provenance_of(spec, models)};
        const bool deletes = spec.deleted > 0;
        schema.provenance.emplace_back(deletes ? "deleted" : "shuffled",
                                       std::to_string(deletes ? spec.deleted : spec.shuffled));
        return schema;
    }

    LabelChoice choice_;
    outputs::Outputs outputs_;
};

/// Throws ConfigError for a model of another kind, with the command to use.
std::unique_ptr<MutationEffects> open_effects(const MutagenesisSpec& spec, const Job& job) {
    std::vector<ModelFolder> models;
    for (const fs::path& path : spec.models) {
        const TaskInfo info = read_task_info(training::find_model(path));
        models.push_back(open_model(path, info.task, job.device, job.computing));
    }
    require_agreement(models);
    const TaskInfo& info = models.front().info;
    if (std::ranges::any_of(models, [](const ModelFolder& model) { return model.bins() != nullptr; }))
        return bin_effects({std::move(models), spec.strands}, spec);
    if (info.task == examples::Task::sequences && !spec.by_records()) {
        throw ConfigError(spec.models.front().string() +
                          " scores sequences without a place in a genome: give --sequences, not --regions");
    }
    if (spec.score == MutagenesisScore::own_bin)
        throw ConfigError("--score own-bin needs a bin model; others have one score for a region");
    const bool averaged = info.task == examples::Task::chromatin;
    Predictor predictor(std::move(models), averaged ? spec.strands : Strands::none, job.batch_tokens);
    return window_effects(std::move(predictor), spec, job.threads);
}

/// Scores rows and writes the effects.
class Mutagenesis {
public:
    Mutagenesis(const MutagenesisSpec& spec, const Job& job)
        : spec_(spec), threads_(job.threads), effects_(open_effects(spec, job)) {}

    MutationEffects& effects() { return *effects_; }
    void open_outputs(std::span<const genome::Contig> contigs) {
        const std::span<const ModelFolder> models = effects_->models();
        if (spec_.by_stretches()) {
            stretches_.emplace(spec_, models, contigs, threads_);
        } else {
            chosen_ = choose_labels(models.front().labels, spec_.labels).labels;
            letters_.emplace(spec_.outputs, models.front().labels, chosen_, provenance_of(spec_, models),
                             LetterTrack::largest, contigs, threads_);
        }
    }
    void add(const MutatedRow& row) {
        if (stretches_) {
            stretches_->write(row, *effects_);
        } else {
            letters_->write(
                row.head, row.dna,
                by_label(effects_->substitutions(row), effects_->models().front().labels.size(), chosen_));
        }
        report_.bases += std::ssize(row.dna);
        report_.without_letter += std::ranges::count(row.dna, 'N');
        report_.too_short += std::ssize(row.dna) < std::max(spec_.deleted, spec_.shuffled) ? 1 : 0;
        progress_.update(report_.bases);
    }
    void commit() {
        progress_.finish();
        stretches_ ? stretches_->commit() : letters_->commit();
    }
    MutagenesisReport& report() { return report_; }

private:
    const MutagenesisSpec& spec_;
    int threads_;
    std::unique_ptr<MutationEffects> effects_;
    std::vector<std::size_t> chosen_;
    std::optional<LetterOutputs> letters_;
    std::optional<StretchWriter> stretches_;
    MutagenesisReport report_;
    Progress progress_{"Scoring", "bases", 0};
};

void mutate_regions(const MutagenesisSpec& spec, const genome::ReferenceGenome& reference,
                    Mutagenesis& work) {
    if (const auto warning = other_build(work.effects().models().front().info, reference))
        log_warning("{}", *warning);
    const rows::RegionOptions options{
        .anchor = rows::Anchor::itself, .skip_invalid = spec.skip_invalid, .tile = work.effects().longest()};
    rows::RegionReader regions(spec.regions, reference, options);
    work.open_outputs(reference.contigs());
    if (!spec.by_stretches())
        LetterOutputs::require_one_length(spec.outputs, spec.regions, reference, options);
    const SequenceOf sequence_of = [&](const genome::Interval& where) { return reference.fetch(where); };
    while (auto row = regions.next()) {
        regions.fill(*row);
        work.report().tiled += row->last_of_line ? 0 : 1;
        if (!row->sequence.empty()) work.add({row->head, row->window, row->sequence, sequence_of});
    }
    work.commit();
    regions.report();
}

void mutate_records(const MutagenesisSpec& spec, Mutagenesis& work) {
    rows::SequenceReader reader(spec.sequences, {});
    rows::LetterCounts letters;
    work.open_outputs({});
    const auto bins = work.effects().models().front().bins();
    while (auto record = reader.next()) {
        rows::normalise(*record, letters, reader.path());
        const std::int64_t length = std::ssize(record->sequence);
        if (bins && length < bins->grid().bin) {
            throw InputError(fmt::format("has a sequence of {} bases; the model scores bins of {}", length,
                                         bins->grid().bin),
                             reader.path(), record->line);
        }
        const SequenceOf sequence_of = sequence_of_record(record->sequence);
        const std::int64_t longest = work.effects().longest(), tile = longest > 0 ? longest : length;
        for (std::int64_t begin = 0; begin < length; begin += tile) {
            rows::Row head;
            head.where = {record->id, begin, std::min(begin + tile, length)};
            work.report().tiled += begin > 0 ? 1 : 0;
            work.add({head, head.where, sequence_of(head.where), sequence_of});
        }
    }
    work.commit();
    if (letters.others > 0) log_warning("{}: {}", reader.path().string(), letters.complaint());
}

}  // namespace

MutagenesisReport predict_mutagenesis(const MutagenesisSpec& given) {
    const auto start = std::chrono::steady_clock::now();
    given.validate();
    MutagenesisSpec spec = given;
    spec.outputs.tracks = !spec.by_records();
    spec.by_stretches() ? outputs::prepare_outputs(spec.outputs) : LetterOutputs::prepare(spec.outputs);
    require_readable(spec.by_records() ? spec.sequences : spec.regions);
    const auto reference = spec.by_records() ? nullptr : genome::open_references(spec.references);
    Mutagenesis work(spec, open_job(spec));
    reference ? mutate_regions(spec, *reference, work) : mutate_records(spec, work);
    MutagenesisReport report = work.report();
    if (report.tiled > 0 && spec.score == MutagenesisScore::region) {
        log_warning(
            "{} longer than {} bases, what the model scores at once, were cut into tiles of that "
            "length, each with a score of its own ({} cuts)",
            spec.by_records() ? "sequences" : "regions", work.effects().longest(), report.tiled);
    }
    if (report.too_short > 0) {
        log_warning("{} of the {} are shorter than {} bases, the length of a stretch, and have no rows",
                    report.too_short, spec.by_records() ? "sequences" : "regions",
                    std::max(spec.deleted, spec.shuffled));
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
