// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/variants/variant_files.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

namespace bigbird::tasks {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_shown = 10;  // labels in INFO, where none are chosen
constexpr std::size_t many_labels = 1000;

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
std::string formula_of(const rows::Provenance& run) {
    const std::string effect = rows::value_of(run, "effect"), scorer = rows::value_of(run, "scorer");
    const std::string formula = effect == "log_odds"    ? "ln(ALT / (1 - ALT)) - ln(REF / (1 - REF))"
                                : effect == "log_ratio" ? "ln(ALT / REF)"
                                                        : "ALT - REF";
    if (scorer.empty()) return formula;
    return fmt::format("{}, {} over {} bins", formula, scorer, rows::value_of(run, "bins"));
}

std::vector<std::string> header_lines(const rows::Provenance& provenance) {
    // Readers of VEP's and SpliceAI's fields look for the names of the parts after "Format: ".
    std::vector<std::string> lines{
        fmt::format(
            "##INFO=<ID=BIGBIRD,Number=.,Type=String,Description=\"Effects of alleles by label. REF and "
            "ALT are {} of the alleles, LOGODDS is {}, QUANTILE is the share of a background's variants "
            "with a smaller LOGODDS. Format: ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS\">",
            rows::value_of(provenance, "effect") == "log_likelihood_ratio" ? "log likelihoods" : "scores",
            formula_of(provenance)),
        "##INFO=<ID=BIGBIRD_MAX,Number=A,Type=Float,Description=\"Largest absolute LOGODDS of any label\">"};
    for (const auto& [key, value] : provenance)
        lines.push_back("##" + (key.starts_with("bigbird") ? key : "bigbird-dna_" + key) + "=" + value);
    return lines;
}

}  // namespace

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

std::vector<fs::path> variant_paths(const outputs::OutputSpec& outputs) {
    std::vector<fs::path> paths;
    std::ranges::copy_if(outputs.paths, std::back_inserter(paths), [&](const fs::path& path) {
        return outputs::kind_of(path, outputs.stream) == outputs::Kind::variants;
    });
    return paths;
}

VariantFiles::VariantFiles(std::vector<std::string> labels, const std::string& chosen)
    : labels_(std::move(labels)),
      selection_(chosen.empty() ? fmt::format("the {} of largest effect", most_shown) : chosen),
      by_size_(chosen.empty()),
      most_labels_(by_size_ ? std::min(most_shown, labels_.size()) : labels_.size()) {
    std::ranges::transform(labels_, labels_.begin(), escaped);
}

void VariantFiles::open(const outputs::OutputSpec& spec, const rows::Provenance& provenance,
                        rows::VariantRows& rows, outputs::Outputs& outputs, int threads) {
    const std::vector<fs::path> paths = variant_paths(spec);
    if (paths.empty()) return;
    std::vector<std::string> lines = header_lines(provenance);
    lines.push_back("##bigbird-dna_labels=" + selection_);
    for (const auto& [name, value] : spec.options)
        if (value != "auto") lines.push_back("##bigbird-dna_" + name + "=" + value);
    header_ = rows.keep_records(lines);
    for (const fs::path& path : paths) {
        auto sink = std::make_unique<VariantSink>(path, spec.overwrite, header_, threads);
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

void VariantFiles::add(const rows::VariantRow& row, const AlleleEffects& effects) {
    if (files_.empty()) return;
    if (row.whole != record_) end_record();
    record_ = row.whole;
    add_entries(row, effects);
    float largest = std::numeric_limits<float>::quiet_NaN();
    for (const AlleleEffect& effect : effects)
        largest = std::fmax(largest, std::abs(effect.log_odds));  // a number, if there is one
    largest_.push_back(largest);
}
void VariantFiles::end_record() {
    if (!record_) return;
    if (record_->alts.empty()) largest_.clear();
    genome::set_info(*record_, *header_,
                     std::vector<genome::VariantField>{{"BIGBIRD", entries_}, {"BIGBIRD_MAX", {}, largest_}});
    for (VariantSink* file : files_)
        file->write(*record_);
    entries_.clear();
    largest_.clear();
    record_.reset();
}

/// Adds ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS for each label.
void VariantFiles::add_entries(const rows::VariantRow& row, const AlleleEffects& effects) {
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
        for (const float value : {effects[i].ref, effects[i].alt, effects[i].log_odds, effects[i].quantile})
            append_value(entries_, value);
        end();
    }
}

}  // namespace bigbird::tasks
