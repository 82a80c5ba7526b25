// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/variants/variant_files.hpp"
#include "bigbird/scoring/variants/variant_work.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

namespace {

/// The quantities that get columns. A pretrained model always has both likelihoods and their difference,
/// which is written only once.
std::vector<Quantity> quantities_of(std::string_view words, const VariantScorer& scorer, bool ranked) {
    std::vector<Quantity> quantities = parse_quantities(
        words, {.ranked = ranked, .profiles = scorer.gives_profiles, .peaks = !scorer.peaks.empty()});
    if (!scorer.label_columns.empty()) return quantities;
    std::erase_if(quantities, [](Quantity quantity) { return quantity <= Quantity::log_odds; });
    quantities.insert(quantities.begin(), {Quantity::ref, Quantity::alt, Quantity::log_odds});
    return quantities;
}

std::vector<outputs::Column> columns_of(const VariantScorer& scorer, std::span<const Quantity> quantities) {
    std::vector<outputs::Column> columns;
    for (const outputs::Column& label : scorer.label_columns) {
        for (const Quantity quantity : quantities) {
            columns.push_back(label);
            columns.back().name += fmt::format(":{}", to_string(quantity));
            columns.back().id += fmt::format(".{}", to_string(quantity));
            columns.back().quantity = to_string(quantity);
        }
    }
    if (!columns.empty()) return columns;
    for (const Quantity quantity : quantities) {
        const bool likelihood = quantity < Quantity::difference;
        const std::string name = (likelihood ? "log_likelihood_" : "") + std::string(to_string(quantity));
        columns.push_back({name, 0, ".", ".", name, std::string(to_string(quantity))});
    }
    return columns;
}

std::vector<float> values_of(const AlleleEffects& effects, std::span<const Quantity> quantities) {
    std::vector<float> values;
    for (const auto& [ref, alt, difference, log_odds, quantile, p, log2_fold_change, jsd, jsd_p, of_peaks] :
         effects) {
        const float all[] = {ref, alt,   difference, log_odds, quantile, p, log2_fold_change,
                             jsd, jsd_p, of_peaks};
        for (const Quantity quantity : quantities)
            values.push_back(all[static_cast<std::size_t>(quantity)]);
    }
    return values;
}

bool is_no_number(const AlleleEffect& effect) {
    return std::isnan(effect.log_odds) || std::isnan(effect.difference);
}

outputs::TableSchema schema_of(const VariantScorer& scorer, std::span<const Quantity> quantities) {
    using outputs::FieldKind;
    outputs::TableSchema schema;
    schema.head = {{"chrom"},  {"pos", FieldKind::integer},    {"id"}, {"ref"}, {"alt"},
                   {"status"}, {"n_fraction", FieldKind::real}};
    if (scorer.about_tss) schema.head.push_back({"tss"});
    schema.head.push_back({"top_label", FieldKind::text, true});
    schema.head.push_back({"top_effect", FieldKind::real});
    schema.head.push_back({"top_p", FieldKind::real});
    schema.columns = columns_of(scorer, quantities);
    schema.provenance = {{"bigbird-dna", std::string(version())}};
    schema.provenance.insert(schema.provenance.end(), scorer.run.begin(), scorer.run.end());
    schema.provenance.emplace_back("effect", scorer.effect);
    if (scorer.count_offset > 0)
        schema.provenance.emplace_back("count_offset", fmt::format("{}", scorer.count_offset));
    const bool by_odds = std::ranges::find(quantities, Quantity::log_odds) != quantities.end();
    schema.effect = to_string(by_odds ? Quantity::log_odds : Quantity::difference);
    return schema;
}

/// The double with the digits that are written of a float.
double as_written(float value) {
    if (std::isnan(value)) return std::nan("");
    char digits[32];
    const char* const end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    double same = 0;
    std::from_chars(std::begin(digits), end, same);
    return same;
}

/// The fields before the scores, in the order of the schema's head. They are views into the row and scorer.
std::vector<rows::Field> fields_of(const rows::VariantRow& row, const VariantScorer& scorer,
                                   const TopEffect& top) {
    std::vector<rows::Field> fields{row.contig,
                                    row.position + 1,
                                    row.id,
                                    row.ref,
                                    row.alt,
                                    to_string(row.status),
                                    rows::rounded_share(row.n_fraction)};
    if (scorer.about_tss) fields.emplace_back(row.tss);
    fields.emplace_back(top.label ? std::string_view(scorer.labels[*top.label]) : ".");
    fields.emplace_back(as_written(top.effect));
    fields.emplace_back(as_written(top.p));
    return fields;
}

/// The rows of all records, or of one part of them. The alleles of a record stay together.
class VariantSource {
public:
    VariantSource(rows::VariantRows& all, std::optional<SegmentCounter> segments)
        : all_(all), segments_(std::move(segments)) {}
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

}  // namespace

VariantReport predict_variants(const VariantSpec& spec, VariantWork& work, const EffectRanks& ranks) {
    VariantScorer& scorer = *work.scorer;
    const std::vector<Quantity> quantities = quantities_of(spec.quantities, scorer, ranks.known());
    const outputs::TableSchema schema = schema_of(scorer, quantities);
    const outputs::OutputSpec output = spec.output_spec();
    std::optional<SegmentCounter> segments;
    if (output.shard) segments.emplace(rows::count_variant_rows(spec.variants), *output.shard);
    VariantSource source(work.rows, std::move(segments));
    outputs::Outputs outputs(output, schema, work.reference->contigs(), work.threads);
    VariantFiles files(scorer.label_columns, spec.labels, scorer.gives_profiles);
    files.open(output, schema.provenance, work.rows, outputs, work.threads);
    VariantReport report;  // only the writing thread uses it
    Progress progress("Scoring", "variants", 0);
    const auto read = [&] {
        std::vector<rows::VariantRow> rows = read_rows(source, scorer.rows_at_once, work.threads);
        for (const rows::VariantRow& row : rows)
            work.rows.settle(row);
        return rows;
    };
    std::int64_t scored = 0;
    const auto score = [&](std::vector<rows::VariantRow>& rows) {
        auto effects = scorer.score(rows, work.threads);
        ranks.fill(effects);
        progress.update(scored += std::ssize(rows));
        return effects;
    };
    score_rows(read, score,
               [&](const std::vector<rows::VariantRow>& rows, const std::vector<AlleleEffects>& effects) {
                   for (std::size_t i = 0; i < rows.size(); ++i) {
                       const TopEffect top = ranks.top(effects[i]);
                       files.add(rows[i], effects[i], top);  // may end a record, of the segment before
                       outputs.begin_segment(rows[i].segment);
                       outputs.write(fields_of(rows[i], scorer, top), values_of(effects[i], quantities));
                       ++report.rows;
                       report.scored += effects[i].empty() ? 0 : 1;
                       report.not_numbers += std::ranges::any_of(effects[i], is_no_number) ? 1 : 0;
                   }
               });
    progress.finish();
    work.rows.report(output.shard.has_value(), spec.skip_invalid);
    files.end_record();
    outputs.commit();
    return report;
}

}  // namespace bigbird::tasks
