// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/variants/variant_files.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

namespace bigbird::tasks {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_shown = 10;  // labels in INFO, where none are chosen
constexpr std::size_t many_labels = 1000;

/// A text as INFO has it: characters that VCF does not allow there, or that readers split at, become `_`, and
/// `|`, which separates the fields of an entry, becomes `/`.
std::string info_text(std::string text) {
    for (char& letter : text)
        if (letter == '|')
            letter = '/';
        else if (static_cast<unsigned char>(letter) <= ' ' ||
                 std::string_view("%;=,&").find(letter) != std::string_view::npos)
            letter = '_';
    return text;
}

/// Names of labels in INFO. Those that would be equal are the labels' unique ids.
std::vector<std::string> info_labels(std::span<const outputs::Column> labels) {
    if (labels.empty()) return {"."};
    std::map<std::string, int> count;
    for (const outputs::Column& label : labels)
        ++count[info_text(label.name)];
    std::vector<std::string> names;
    for (const outputs::Column& label : labels) {
        std::string name = info_text(label.name);
        names.push_back(count[name] > 1 ? label.id : std::move(name));
    }
    return names;
}

void append_value(std::string& entry, float value) {
    entry += '|';
    if (std::isnan(value))
        entry += '.';
    else
        rows::append_number(entry, value);
}

/// The field without which bcftools +split-vep 1.16 reads nothing.
std::string_view consequence_of(const AlleleEffect& effect) {
    return effect.alt > effect.ref ? "gain" : effect.alt < effect.ref ? "loss" : ".";
}

/// The meaning of LOGODDS.
std::string formula_of(const rows::Provenance& run) {
    const std::string effect = rows::value_of(run, "effect"), scorer = rows::value_of(run, "scorer"),
                      offset = rows::value_of(run, "count_offset");
    const std::string formula =
        effect == "log_odds"    ? "ln(ALT_SCORE / (1 - ALT_SCORE)) - ln(REF_SCORE / (1 - REF_SCORE))"
        : !offset.empty()       ? fmt::format("ln((ALT_SCORE + {0}) / (REF_SCORE + {0}))", offset)
        : effect == "log_ratio" ? "ln(ALT_SCORE / REF_SCORE)"
                                : "ALT_SCORE - REF_SCORE";
    if (scorer.empty()) return formula;
    return fmt::format("{}, {} over {} bins", formula, scorer, rows::value_of(run, "bins"));
}

std::vector<std::string> header_lines(const rows::Provenance& provenance, bool profiles) {
    // Readers of VEP's and SpliceAI's fields look for the names of the parts after "Format: ".
    std::vector<std::string> lines{
        fmt::format(
            "##INFO=<ID=BIGBIRD,Number=.,Type=String,Description=\"Effects of alleles by label. REF_SCORE "
            "and "
            "ALT_SCORE are {} of the alleles, Consequence is gain where ALT_SCORE is larger and loss where "
            "it is "
            "smaller, LOGODDS is {}, QUANTILE is the share of a background's variants with a smaller "
            "LOGODDS, PVALUE "
            "the share of its shuffled variants with one of at least this size{}. Format: "
            "ALLELE|Consequence|LABEL|REF_SCORE|ALT_SCORE|LOGODDS|QUANTILE|PVALUE{}|STATUS\">",
            rows::value_of(provenance, "effect") == "log_likelihood_ratio" ? "log likelihoods" : "scores",
            formula_of(provenance),
            profiles
                ? ", LOG2FC the log2 fold change of exp(log count), JSD the Jensen-Shannon distance of both "
                  "profiles, JSD_PVALUE the share of shuffled variants with a JSD of at least this size, "
                  "ACTIVE_QUANTILE the share of the background's peaks with fewer reads than the "
                  "allele of more"
                : "",
            profiles ? "|LOG2FC|JSD|JSD_PVALUE|ACTIVE_QUANTILE" : ""),
        "##INFO=<ID=BIGBIRD_MAX,Number=A,Type=Float,Description=\"Largest absolute LOGODDS of any label\">",
        "##INFO=<ID=BIGBIRD_TOP_LABEL,Number=A,Type=String,Description=\"Label with that LOGODDS\">",
        "##INFO=<ID=BIGBIRD_TOP_EFFECT,Number=A,Type=Float,Description=\"LOGODDS of that label\">",
        "##INFO=<ID=BIGBIRD_TOP_P,Number=A,Type=Float,Description=\"Share of a background's shuffled "
        "variants "
        "with a BIGBIRD_MAX of at least this size\">"};
    for (const auto& [key, value] : provenance)
        lines.push_back("##" + (key.starts_with("bigbird") ? key : "bigbird-dna_" + key) + "=" + value);
    return lines;
}

}  // namespace

VariantFiles::VariantFiles(std::span<const outputs::Column> labels, const std::string& chosen, bool profiles)
    : labels_(info_labels(labels)),
      selection_(chosen.empty() ? fmt::format("the {} of largest effect", most_shown) : chosen),
      by_size_(chosen.empty()),
      most_labels_(by_size_ ? std::min(most_shown, labels_.size()) : labels_.size()),
      profiles_(profiles) {}

void VariantFiles::open(const outputs::OutputSpec& spec, const rows::Provenance& provenance,
                        rows::VariantRows& rows, outputs::Outputs& outputs, int threads) {
    const std::vector<fs::path> paths = outputs::variant_paths(spec);
    if (paths.empty()) return;
    std::vector<std::string> lines = header_lines(provenance, profiles_);
    lines.push_back("##bigbird-dna_labels=" + selection_);
    for (const auto& [name, value] : spec.options)
        if (value != "auto") lines.push_back("##bigbird-dna_" + name + "=" + value);
    header_ = rows.keep_records(lines);
    for (const fs::path& path : paths)
        files_.push_back(&outputs::adopt_variants(outputs, path, spec.overwrite, header_, threads));
    if (most_labels_ > many_labels) {
        log_warning(
            "each allele gets {} entries in INFO, one per label; for those with the largest effects "
            "only, leave out --labels",
            most_labels_);
    }
}

void VariantFiles::add(const rows::VariantRow& row, const AlleleEffects& effects, const TopEffect& top) {
    if (files_.empty()) return;
    if (row.whole != record_) end_record();
    record_ = row.whole;
    add_entries(row, effects);
    if (record_->alts.empty()) return;
    top_labels_ += (top_labels_.empty() ? "" : ",") + (top.label ? labels_[*top.label] : ".");
    top_effects_.push_back(top.effect);
    top_sizes_.push_back(std::abs(top.effect));
    top_ps_.push_back(top.p);
}

void VariantFiles::end_record() {
    if (!record_) return;
    genome::set_info(*record_, *header_,
                     std::vector<genome::VariantField>{{"BIGBIRD", entries_},
                                                       {"BIGBIRD_MAX", {}, top_sizes_},
                                                       {"BIGBIRD_TOP_LABEL", top_labels_},
                                                       {"BIGBIRD_TOP_EFFECT", {}, top_effects_},
                                                       {"BIGBIRD_TOP_P", {}, top_ps_}});
    for (outputs::VariantSink* file : files_)
        file->write(*record_);
    for (std::string* const text : {&entries_, &top_labels_})
        text->clear();
    for (std::vector<float>* const of_alleles : {&top_effects_, &top_sizes_, &top_ps_})
        of_alleles->clear();
    record_.reset();
}

/// Adds an entry for each label, with the fields that header_lines() names.
void VariantFiles::add_entries(const rows::VariantRow& row, const AlleleEffects& effects) {
    const auto start = [&](std::string_view consequence, std::string_view label) {
        if (!entries_.empty()) entries_ += ',';
        ((entries_ += info_text(row.alt) + "|").append(consequence) += '|').append(label);
    };
    const auto end = [&] { (entries_ += '|').append(to_string(row.status)); };
    if (effects.empty()) {
        start(".", profiles_ ? ".|.|.|.|.|.|.|.|.|." : ".|.|.|.|.|.");
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
        const AlleleEffect& effect = effects[i];
        start(consequence_of(effect), labels_[i]);
        for (const float value : {effect.ref, effect.alt, effect.log_odds, effect.quantile, effect.p})
            append_value(entries_, value);
        if (profiles_)
            for (const float value :
                 {effect.log2_fold_change, effect.jsd, effect.jsd_p, effect.active_allele_quantile})
                append_value(entries_, value);
        end();
    }
}

}  // namespace bigbird::tasks
