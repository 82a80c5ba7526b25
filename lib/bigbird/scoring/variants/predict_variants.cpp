// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/variants/variant_scorers.hpp"
#include "bigbird/scoring/variants/variants.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

namespace fs = std::filesystem;

namespace {

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

/// The background of a run: --background, or background.h5 in the folder of its only model.
class EffectRanks {
public:
    /// Reads the background, if there is one. Call it while this process has one thread. Throws InputError.
    explicit EffectRanks(const VariantSpec& spec) : path_(spec.background) {
        if (path_.empty() && spec.models.size() == 1) {
            path_ = training::find_model(spec.models.front()) / "background.h5";
            is_own_ = true;
            if (!is_there(path_)) path_.clear();
        }
        if (!path_.empty()) background_ = outputs::read_background(path_);
    }

    /// Checks the background against the run (VariantScorer::run) and its labels. Throws InputError if the
    /// background is of another model, was built with other options, or lacks a label. If the model folder's
    /// own background was built with other options, it is ignored with a warning.
    void require(const rows::Provenance& run, std::span<const std::string> labels) {
        if (!background_) return;
        const auto theirs = checksums_of(background_->run), ours = checksums_of(run);
        if (theirs != ours) {
            throw InputError(
                fmt::format("is a background of another model ({}…, this one is {}…); make one with "
                            "build-background --model",
                            fmt::join(theirs, ", "), fmt::join(ours, ", ")),
                path_);
        }
        if (background_->run != run) {
            const std::string sentence =
                "is a background of other options (" + words_of(background_->run, run) + ", not " +
                words_of(run, background_->run) + "); make one with build-background and the same options";
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
    /// Whether there is a background.
    bool known() const { return background_.has_value(); }
    /// Sets quantiles and p-values. Thread-safe.
    void fill(std::span<AlleleEffects> effects) const {
        if (!background_) return;
        for (AlleleEffects& of_allele : effects) {
            for (std::size_t i = 0; i < of_allele.size(); ++i) {
                AlleleEffect& effect = of_allele[i];
                effect.quantile = static_cast<float>(background_->quantile(labels_[i], effect.log_odds));
                effect.p = static_cast<float>(background_->p(labels_[i], effect.log_odds));
            }
        }
    }

private:
    fs::path path_;
    bool is_own_ = false;  ///< read from the model folder
    std::optional<outputs::EffectBackground> background_;
    std::vector<std::size_t> labels_;  ///< indices of the run's labels in the background
};

constexpr std::size_t most_shown = 10;  // labels in INFO, where none are chosen
constexpr std::size_t many_labels = 1000;

/// The outputs that are VCF or BCF.
std::vector<fs::path> variant_paths(const VariantSpec& spec) {
    std::vector<fs::path> paths;
    std::ranges::copy_if(spec.outputs.paths, std::back_inserter(paths), [&](const fs::path& path) {
        return outputs::kind_of(path, spec.outputs.stream) == outputs::Kind::variants;
    });
    return paths;
}

/// Escapes characters as VCF 4.3 does in INFO, and also `|`, which separates the fields of an entry.
std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string word;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (code > ' ' && std::string_view("%;=,|").find(letter) == std::string_view::npos)
            word += letter;
        else
            word += {'%', digits[code / 16], digits[code % 16]};
    }
    return word;
}

void append_value(std::string& entry, float value) {
    entry += '|';
    if (std::isnan(value))
        entry += '.';
    else
        rows::append_number(entry, value);
}

/// The meaning of LOGODDS.
std::string formula_of(const VariantSpec& spec, std::string_view effect) {
    const std::string formula = effect == "log_odds"    ? "ln(ALT / (1 - ALT)) - ln(REF / (1 - REF))"
                                : effect == "log_ratio" ? "ln(ALT / REF)"
                                                        : "ALT - REF";
    if (spec.scorer == BinScorer::centre) return formula;
    return fmt::format("{}, {} over {} bins", formula, word_of(bin_scorer_choices, spec.scorer), spec.bins);
}

std::vector<std::string> header_lines(const VariantSpec& spec, const rows::Provenance& provenance) {
    const std::string effect = rows::value_of(provenance, "effect");
    // Readers of VEP's and SpliceAI's fields look for the names of the parts after "Format: ".
    std::vector<std::string> lines{
        fmt::format(
            "##INFO=<ID=BIGBIRD,Number=.,Type=String,Description=\"Effects of alleles by label. REF and "
            "ALT are {} of the alleles, LOGODDS is {}, QUANTILE is the share of a background's variants "
            "with a smaller LOGODDS. Format: ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS\">",
            effect == "log_likelihood_ratio" ? "log likelihoods" : "scores", formula_of(spec, effect)),
        "##INFO=<ID=BIGBIRD_MAX,Number=A,Type=Float,Description=\"Largest absolute LOGODDS of any label\">"};
    for (const auto& [key, value] : provenance)
        lines.push_back("##" + (key.starts_with("bigbird") ? key : "bigbird-dna_" + key) + "=" + value);
    lines.push_back(
        "##bigbird-dna_labels=" +
        (spec.labels.empty() ? "the " + std::to_string(most_shown) + " of largest effect" : spec.labels));
    if (spec.dtype != "auto") lines.push_back("##bigbird-dna_dtype=" + spec.dtype);
    return lines;
}

/// An output whose records VariantFiles writes.
class VariantSink : public outputs::Sink {
public:
    VariantSink(const fs::path& path, Overwrite overwrite, std::shared_ptr<genome::VariantHeader> header,
                int threads)
        : writer_(path, overwrite, std::move(header), threads) {}
    void write(const genome::Variant& variant) {
        writer_.write(variant);
        ++records_;
    }
    void write(std::span<const rows::Field>, std::span<const float>) override {}
    std::int64_t records() const override { return records_; }
    void finish(std::vector<PendingOutput*>& pending) override { writer_.finish(pending); }

private:
    genome::VariantWriter writer_;
    std::int64_t records_ = 0;
};

/// The outputs of a run that are VCF or BCF. They contain every input record, in order, with
/// two more INFO fields (FORMAT.md, "Variants with effects"). Not thread-safe.
class VariantFiles {
public:
    /// Adds the files to `outputs`, which ends and renames them with the other outputs. `labels`: names of
    /// the effects that are passed to add(). Call it before a row is read. Throws ConfigError.
    VariantFiles(const VariantSpec& spec, std::vector<std::string> labels, const rows::Provenance& provenance,
                 rows::VariantRows& rows, outputs::Outputs& outputs, int threads)
        : labels_(std::move(labels)),
          by_size_(spec.labels.empty()),
          most_labels_(spec.labels.empty() ? std::min(most_shown, labels_.size()) : labels_.size()) {
        const std::vector<fs::path> paths = variant_paths(spec);
        if (paths.empty()) return;
        std::ranges::transform(labels_, labels_.begin(), escaped);
        header_ = rows.keep_records(header_lines(spec, provenance));
        for (const fs::path& path : paths) {
            auto sink = std::make_unique<VariantSink>(path, spec.outputs.overwrite, header_, threads);
            files_.push_back(sink.get());
            const bool bcf = genome::variant_format_of(path) == genome::VariantFormat::bcf;
            outputs.adopt(std::move(sink), path, bcf ? outputs::part_of_bcf : outputs::part_of_vcf);
        }
        if (most_labels_ > many_labels) {
            log_warning(
                "each allele gets {} entries in INFO, one per label; for those with the largest effects "
                "only, leave out --labels",
                most_labels_);
        }
    }

    /// Adds the effects of the next allele. Writes the previous record unless the allele belongs to it.
    /// Throws WriteError.
    void add(const rows::VariantRow& row, const AlleleEffects& effects) {
        if (files_.empty()) return;
        if (row.whole != record_) end_record();
        record_ = row.whole;
        add_entries(row, effects);
        float largest = std::numeric_limits<float>::quiet_NaN();
        for (const AlleleEffect& effect : effects)
            largest = std::fmax(largest, std::abs(effect.log_odds));  // a number, if there is one
        largest_.push_back(largest);
    }
    /// Writes the last record. Throws WriteError.
    void end_record() {
        if (!record_) return;
        if (record_->alts.empty()) largest_.clear();
        genome::set_info(
            *record_, *header_,
            std::vector<genome::VariantField>{{"BIGBIRD", entries_}, {"BIGBIRD_MAX", {}, largest_}});
        for (VariantSink* file : files_)
            file->write(*record_);
        entries_.clear();
        largest_.clear();
        record_.reset();
    }

private:
    /// Adds ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS for each label.
    void add_entries(const rows::VariantRow& row, const AlleleEffects& effects) {
        const auto start = [&](std::string_view label) {
            if (!entries_.empty()) entries_ += ',';
            (entries_ += escaped(row.alt) + "|").append(label);
        };
        const auto end = [&] { (entries_ += '|').append(to_string(row.status)); };
        if (effects.empty()) {
            start(".|.|.|.|.");
            end();
            return;
        }
        std::vector<std::size_t> order(effects.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (by_size_) {
            std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
                const float size = std::abs(effects[i].log_odds);
                return std::isnan(size) ? -1.0F : size;
            });
            order.resize(most_labels_);
        }
        for (const std::size_t i : order) {
            start(labels_[i]);
            for (const float value :
                 {effects[i].ref, effects[i].alt, effects[i].log_odds, effects[i].quantile})
                append_value(entries_, value);
            end();
        }
    }

    std::vector<std::string> labels_;
    bool by_size_;  ///< whether labels are those of the largest effects, largest first
    std::size_t most_labels_;
    std::shared_ptr<genome::VariantHeader> header_;
    std::vector<VariantSink*> files_;                ///< those of the outputs
    std::shared_ptr<const genome::Variant> record_;  ///< the record of the current alleles
    std::string entries_;
    std::vector<float> largest_;
};

/// The quantities that get columns. A pretrained model always has both likelihoods and their difference,
/// which is written only once.
std::vector<Quantity> quantities_of(const VariantSpec& spec, const VariantScorer& scorer, bool ranked) {
    std::vector<Quantity> quantities = parse_quantities(spec.quantities, ranked);
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
    for (const auto& [ref, alt, difference, log_odds, quantile, p] : effects) {
        const float all[] = {ref, alt, difference, log_odds, quantile, p};
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
    schema.columns = columns_of(scorer, quantities);
    schema.provenance = {{"bigbird-dna", std::string(version())}};
    schema.provenance.insert(schema.provenance.end(), scorer.run.begin(), scorer.run.end());
    schema.provenance.emplace_back("effect", scorer.effect);
    const bool by_odds = std::ranges::find(quantities, Quantity::log_odds) != quantities.end();
    schema.effect = to_string(by_odds ? Quantity::log_odds : Quantity::difference);
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
    outputs.options = {{"dtype", spec.dtype}};
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

}  // namespace

VariantReport predict_variants(const VariantSpec& spec) {
    spec.validate();
    outputs::prepare_outputs(output_spec(spec));
    for (const fs::path& path : variant_paths(spec))
        genome::prepare_variant_output(path, spec.outputs.overwrite);
    require_readable(spec.variants);
    EffectRanks ranks(spec);
    VariantWork work(spec);
    VariantScorer& scorer = *work.scorer;
    ranks.require(scorer.run, scorer.labels);
    const std::vector<Quantity> quantities = quantities_of(spec, scorer, ranks.known());
    VariantSource source(spec, work.rows);
    const outputs::TableSchema schema = schema_of(scorer, quantities);
    outputs::Outputs outputs(output_spec(spec), schema, work.reference->contigs(), work.threads);
    VariantFiles files(spec, scorer.labels, schema.provenance, work.rows, outputs, work.threads);
    VariantReport report;  // only the writing thread uses it
    Progress progress("Scoring", "variants", 0);
    const auto read = [&] {
        std::vector<rows::VariantRow> rows = read_rows(source, rows_per_chunk, work.threads);
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
                       files.add(rows[i], effects[i]);  // may end a record, which is of the segment before
                       outputs.begin_segment(rows[i].segment);
                       outputs.write(fields_of(rows[i], work.tss.has_value()),
                                     values_of(effects[i], quantities));
                       ++report.rows;
                       report.scored += effects[i].empty() ? 0 : 1;
                       report.not_numbers += std::ranges::any_of(effects[i], is_no_number) ? 1 : 0;
                   }
               });
    progress.finish();
    work.rows.report(spec.outputs.shard.has_value(), spec.skip_invalid);
    files.end_record();
    outputs.commit();
    return report;
}

}  // namespace bigbird::tasks
