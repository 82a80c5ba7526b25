// SPDX-License-Identifier: Apache-2.0

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/score_rows.hpp"
#include "bigbird/task_models/score/variant_files.hpp"
#include "bigbird/task_models/score/variant_scorers.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

namespace fs = std::filesystem;

namespace {

// Ranks effects of variants in a background distribution.

/// The background of a run: --background, or background.h5 in the folder of its only model.
class EffectRanks {
public:
    /// Reads the background, if there is one. Call it while this process has one thread. Throws InputError.
    explicit EffectRanks(const VariantSpec& spec);

    /// Checks the background against the run (run_of) and its labels. Throws InputError if the background is
    /// of another model, was built with other options, or lacks a label. If the model folder's own background
    /// was built with other options, it is ignored with a warning.
    void require(const rows::Provenance& run, std::span<const std::string> labels);
    /// Whether there is a background.
    bool known() const { return background_.has_value(); }
    /// Sets quantiles and p-values. Thread-safe.
    void fill(std::span<AlleleEffects> effects) const;

private:
    std::filesystem::path path_;
    bool is_own_ = false;  ///< read from the model folder
    std::optional<outputs::EffectBackground> background_;
    std::vector<std::size_t> labels_;  ///< indices of the run's labels in the background
};

constexpr const char* checksum_key = "model_sha256";
constexpr std::size_t shown_digits = 12;

std::vector<std::string> checksums_of(const rows::Provenance& run) {
    std::vector<std::string> sums;
    for (const auto& [key, value] : run)
        if (key == checksum_key) sums.push_back(value.substr(0, shown_digits));
    return sums;
}

/// The entries of `run` that `other` lacks.
std::string words_of(const rows::Provenance& run, const rows::Provenance& other) {
    std::string words;
    for (const auto& entry : run)
        if (std::ranges::find(other, entry) == other.end())
            words += (words.empty() ? "" : ", ") + entry.first + " " + entry.second;
    return words.empty() ? "defaults" : words;
}

EffectRanks::EffectRanks(const VariantSpec& spec) : path_(spec.background) {
    if (path_.empty() && spec.models.size() == 1) {
        path_ = training::find_model(spec.models.front()) / "background.h5";
        is_own_ = true;
        if (!is_there(path_)) path_.clear();
    }
    if (!path_.empty()) background_ = outputs::read_background(path_);
}

void EffectRanks::require(const rows::Provenance& run, std::span<const std::string> labels) {
    if (!background_) return;
    const auto theirs = checksums_of(background_->run), ours = checksums_of(run);
    if (theirs != ours) {
        throw InputError(fmt::format("is a background of another model ({}…, this one is {}…); make one with "
                                     "build-background --model",
                                     fmt::join(theirs, ", "), fmt::join(ours, ", ")),
                         path_);
    }
    if (background_->run != run) {
        const std::string sentence = "is a background of other options (" + words_of(background_->run, run) +
                                     ", not " + words_of(run, background_->run) +
                                     "); make one with build-background and the same options";
        if (!is_own_) throw InputError(sentence, path_);
        log_warning("{}: {}; quantile and p are left out", path_.string(), sentence);
        background_.reset();
        return;
    }
    for (const std::string& label : labels) {
        const auto found = background_->find(label);
        if (!found) throw InputError("lacks the label '" + label + "'; make it again", path_);
        labels_.push_back(*found);
    }
}

void EffectRanks::fill(std::span<AlleleEffects> effects) const {
    if (!background_) return;
    for (AlleleEffects& of_allele : effects) {
        for (std::size_t i = 0; i < of_allele.size(); ++i) {
            AlleleEffect& effect = of_allele[i];
            effect.quantile = static_cast<float>(background_->quantile(labels_[i], effect.log_odds));
            effect.p = static_cast<float>(background_->p(labels_[i], effect.log_odds));
        }
    }
}

constexpr std::size_t rows_a_chunk = 256;

outputs::TableSchema layout_of(const VariantScorer& scorer, const VariantSpec& spec) {
    using outputs::FieldKind;
    outputs::TableSchema schema;
    schema.head = {{"chrom"},  {"pos", FieldKind::integer},    {"id"}, {"ref"}, {"alt"},
                   {"status"}, {"n_fraction", FieldKind::real}};
    if (scorer.about_tss()) schema.head.push_back({"tss"});
    schema.columns = scorer.columns();
    schema.provenance = {{"bigbird-dna", std::string(version())}};
    for (auto& entry : run_of(scorer, spec))
        schema.provenance.push_back(std::move(entry));
    return schema;
}

/// The fields before the scores, in the order of the schema's head. They are views into the row.
std::vector<rows::Field> fields_of(const rows::VariantRow& row, bool with_tss) {
    std::vector<rows::Field> fields{row.contig,
                                    row.position + 1,
                                    row.id,
                                    row.ref,
                                    row.alt,
                                    to_string(row.status),
                                    rows::rounded_share(row.n_fraction)};
    if (with_tss) fields.emplace_back(row.tss);
    return fields;
}

outputs::OutputSpec output_spec(const VariantSpec& spec) {
    outputs::OutputSpec outputs = spec.outputs;
    outputs.inputs = {{"variants", spec.variants}};
    if (!spec.tss.empty()) outputs.inputs.emplace_back("tss", spec.tss);
    outputs.options = {{"dtype", spec.dtype}, {"attention", spec.attention}};
    outputs.variants = true;
    return outputs;
}

/// The rows of all records, or of one part of them. The alleles of a record stay together.
class VariantSource {
public:
    VariantSource(const VariantSpec& spec, rows::VariantRows& all) : all_(all) {
        if (const auto& shard = spec.outputs.shard)
            segments_.emplace(rows::count_variant_rows(spec.variants), *shard);
    }
    std::optional<rows::VariantRow> next() {
        while (std::optional<rows::VariantRow> row = all_.next()) {
            if (!segments_) return row;
            row->segment = segments_->next(row->record == record_);
            record_ = row->record;
            if (segments_->is_mine(row->segment)) return row;
        }
        return std::nullopt;
    }
    void fill(rows::VariantRow& row) const { all_.fill(row); }

private:
    rows::VariantRows& all_;
    std::optional<SegmentCounter> segments_;
    std::int64_t record_ = -1;
};

struct VariantChunk {
    std::vector<rows::VariantRow> rows;
};

}  // namespace

VariantReport predict_variants(const VariantSpec& spec) {
    spec.validate();
    const auto start = std::chrono::steady_clock::now();
    outputs::prepare_outputs(output_spec(spec));
    VariantFiles::prepare(spec);
    const int threads = resolve_threads(spec.threads);
    require_readable(spec.variants);
    const std::unique_ptr<genome::ReferenceGenome> reference = genome::open_references(spec.references);
    EffectRanks ranks(spec);
    const std::unique_ptr<VariantScorer> scorer = load_variant_scorer(spec);
    ranks.require(run_of(*scorer, spec), scorer->labels());
    scorer->choose(parse_quantities(spec.quantities, ranks.known()));
    if (const auto warning = scorer->other_build(*reference)) log_warning("{}", *warning);
    std::optional<rows::TssIndex> tss;
    if (const auto bounds = scorer->about_tss()) tss.emplace(spec.tss, *reference, *bounds);
    rows::VariantRows all(spec.variants, *reference, scorer->window(), spec.strict, tss ? &*tss : nullptr,
                          scorer->begin_of(), scorer->aligned());
    VariantSource source(spec, all);
    const outputs::TableSchema schema = layout_of(*scorer, spec);
    VariantFiles files(spec, scorer->labels(), schema.provenance, all, threads);
    outputs::Outputs outputs(output_spec(spec), schema, {}, reference->contigs(), threads);
    files.join(outputs);
    VariantReport report;  // only the writing thread uses it
    Progress progress("Scoring", "variants", 0);
    const auto read = [&] {
        VariantChunk chunk{read_rows(source, rows_a_chunk, threads)};
        for (const rows::VariantRow& row : chunk.rows)
            all.settle(row);
        return chunk;
    };
    std::int64_t scored = 0;
    const auto score = [&](VariantChunk& chunk) {
        auto effects = scorer->score(chunk.rows, threads);
        ranks.fill(effects);
        progress.update(scored += std::ssize(chunk.rows));
        return effects;
    };
    score_rows(read, score, [&](const VariantChunk& chunk, const std::vector<AlleleEffects>& effects) {
        for (std::size_t i = 0; i < chunk.rows.size(); ++i) {
            files.begin(chunk.rows[i]);
            outputs.begin_segment(chunk.rows[i].segment);
            outputs.write(fields_of(chunk.rows[i], tss.has_value()), scorer->values_of(effects[i]));
            files.write(chunk.rows[i], effects[i]);
            ++report.rows;
            report.scored += effects[i].empty() ? 0 : 1;
        }
    });
    progress.finish();
    all.report(spec.outputs.shard.has_value(), spec.skip_invalid);
    files.end_record();
    outputs.commit();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
