// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parts/segment_counter.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/task_models/score/effect_ranks.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/score_rows.hpp"
#include "bigbird/task_models/score/variant_files.hpp"
#include "bigbird/task_models/score/variant_scorers.hpp"

#include <algorithm>
#include <chrono>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

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
