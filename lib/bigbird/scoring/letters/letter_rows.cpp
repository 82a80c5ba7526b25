// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/letters/letter_rows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/region_text.hpp"
#include "bigbird/scoring/score_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

enum class Form : std::uint8_t { table, track, arrays };

Form form_of(const fs::path& path) {
    if (outputs::is_letter_arrays(path)) return Form::arrays;
    const auto kind = outputs::kind_of(path);
    const bool track = kind == outputs::Kind::bedgraph || kind == outputs::Kind::bigwig;
    return track ? Form::track : Form::table;
}

/// The outputs of one form.
outputs::OutputSpec outputs_of(const outputs::OutputSpec& spec, Form form) {
    outputs::OutputSpec some = spec;
    std::erase_if(some.paths, [&](const fs::path& path) { return form_of(path) != form; });
    return some;
}

outputs::TableSchema table_schema(const rows::Provenance& provenance) {
    using outputs::FieldKind;
    outputs::TableSchema schema;
    schema.head = {{"chrom"}, {"start", FieldKind::integer}, {"end", FieldKind::integer}, {"name"}, {"label"},
                   {"ref"}};
    for (const char letter : dna_letters) {
        const std::string name(1, letter);
        schema.columns.push_back({name, std::ssize(schema.columns), ".", name, name});
    }
    schema.provenance = provenance;
    return schema;
}

outputs::TableSchema track_schema(const rows::LabelTable& labels, std::span<const std::size_t> chosen) {
    return {outputs::region_head(), outputs::label_columns(labels, chosen), {}};
}

}  // namespace

LetterRows::LetterRows(const LetterSpec& spec, const ModelFolder& model, const Placement& placement,
                       const rows::RegionOptions& options)
    : spec_(spec), tile_(placement.longest()), options_(options) {
    if (spec.by_records()) {
        source_ = record_source(spec.sequences, {},
                                {.shortest = placement.record_fit().shortest, .can_skip = false});
        return;
    }
    reference_ = genome::open_references(spec.references);
    if (const auto warning = other_build(model.info, *reference_)) log_warning("{}", *warning);
    options_.anchor = rows::Anchor::itself;
    options_.tile = tile_;
    source_ = std::make_unique<rows::RegionReader>(spec.regions, *reference_, options_);
    sequence_of_ = [&genome = *reference_](const genome::Interval& where) { return genome.fetch(where); };
}

std::span<const genome::Contig> LetterRows::contigs() const {
    return reference_ ? reference_->contigs() : std::span<const genome::Contig>();
}

void LetterRows::require_one_length(const outputs::OutputSpec& outputs) const {
    std::error_code ignored;
    if (!reference_ || std::ranges::none_of(outputs.paths, outputs::is_letter_arrays) ||
        !(fs::is_regular_file(spec_.regions, ignored) || genome::is_region_text(spec_.regions)))
        return;
    rows::RegionReader reader(spec_.regions, *reference_, options_);
    std::int64_t length = 0;
    while (const auto row = reader.next()) {
        if (!rows::is_scored(row->head.status) || row->window.size() == 0) continue;
        if (length == 0) length = row->window.size();
        outputs::require_length(row->head.where, row->window.size(), length);
    }
}

std::optional<LetterRow> LetterRows::next() {
    while (rest_.size() == 0) {
        auto row = source_->next();
        if (!row) return std::nullopt;
        source_->fill(*row);
        if (!reference_) {
            rest_ = row->head.where;
            sequence_of_ = sequence_of_record(std::move(row->sequence));
            continue;
        }
        tiled_ += row->last_of_line ? 0 : 1;
        if (!row->sequence.empty())
            return LetterRow{std::move(row->head), std::move(row->window), std::move(row->sequence),
                             sequence_of_};
    }
    rows::Row head;  // a tile of the record
    head.where = rest_;
    if (tile_ > 0) head.where.end = std::min(rest_.begin + tile_, rest_.end);
    rest_.begin = head.where.end;
    tiled_ += rest_.size() > 0 ? 1 : 0;
    return LetterRow{head, head.where, sequence_of_(head.where), sequence_of_};
}

void LetterOutputs::prepare(const outputs::OutputSpec& spec) {
    outputs::OutputSpec others = spec;
    std::erase_if(others.paths, [](const fs::path& path) { return form_of(path) == Form::arrays; });
    outputs::prepare_outputs(others);
    for (const fs::path& path : outputs_of(spec, Form::arrays).paths) {
        for (const fs::path& file : outputs::letter_array_files(path))
            if (!outputs::names_labels(path)) prepare_output(file, spec.overwrite);
    }
}

LetterOutputs::LetterOutputs(const outputs::OutputSpec& spec, const rows::LabelTable& labels,
                             std::span<const std::size_t> chosen, const rows::Provenance& provenance,
                             LetterTrack track, std::span<const genome::Contig> contigs, int threads)
    : track_(track),
      tables_(outputs_of(spec, Form::table), table_schema(provenance), contigs, threads),
      tracks_(outputs_of(spec, Form::track), track_schema(labels, chosen), contigs, threads),
      arrays_(chosen.size()) {
    const outputs::TableSchema schema = track_schema(labels, chosen);
    for (const outputs::Column& column : schema.columns)
        names_.push_back(column.name);
    for (const fs::path& path : outputs_of(spec, Form::arrays).paths) {
        const std::vector<fs::path> paths = outputs::paths_of_labels(path, schema);
        for (std::size_t i = 0; i < paths.size(); ++i) {
            rows::Provenance own = provenance;
            own.emplace_back("label", names_[i]);
            arrays_[i].emplace_back(paths[i], spec.overwrite, own);
        }
    }
}

float LetterOutputs::track_value(char letter, std::span<const float> scores) const {
    if (track_ == LetterTrack::own) return scores[dna_letters.find(letter)];
    return *std::ranges::max_element(scores, {}, [](float score) { return std::abs(score); });
}

void LetterOutputs::write(const rows::Row& row, std::string_view dna, std::span<const float> scores) {
    constexpr std::size_t letters = dna_letters.size();
    const std::size_t of_label = dna.size() * letters;
    std::vector<float> values(names_.size());
    for (std::size_t base = 0; base < dna.size(); ++base) {
        rows::Row head = row;
        head.where.begin = row.where.begin + static_cast<std::int64_t>(base);
        head.where.end = head.where.begin + 1;
        const std::string_view letter = dna.substr(base, 1);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const std::span<const float> own = scores.subspan(i * of_label + base * letters, letters);
            const rows::Field fields[] = {head.where.contig, head.where.begin, head.where.end,
                                          head.name,         names_[i],        letter};
            tables_.write(fields, letter == "N" ? std::span<const float>() : own);
            values[i] = letter == "N" ? 0 : track_value(letter.front(), own);
        }
        tracks_.write(rows::fields_of(head), letter == "N" ? std::span<const float>() : values);
    }
    for (std::size_t i = 0; i < names_.size(); ++i)
        for (outputs::LetterArrays& array : arrays_[i])
            array.add(row.where, row.name, dna, scores.subspan(i * of_label, of_label));
}

void LetterOutputs::commit() {
    std::vector<PendingOutput*> pending;
    for (auto& of_label : arrays_)
        for (outputs::LetterArrays& array : of_label)
            array.finish(pending);
    outputs::Outputs::commit_together(std::array{&tables_, &tracks_}, std::move(pending));
}

}  // namespace bigbird::tasks
