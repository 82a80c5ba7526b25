// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/splice_text.hpp"

#include "bigbird/core/version.hpp"

#include <cstdio>
#include <string_view>

namespace bigbird::splicing {

namespace {

constexpr const char* no_scores = ".|.|.|.|.|.|.|.";
constexpr std::size_t shown_digits = 12;

/// A gene's name as INFO can have it.
std::string symbol_of(std::string name) {
    for (char& letter : name)
        if (static_cast<unsigned char>(letter) <= ' ' ||
            std::string_view("|;=,").find(letter) != std::string_view::npos)
            letter = '_';
    return name;
}

std::string pangolin_text(const PangolinEffect& effect) {
    char text[96];
    std::snprintf(text, sizeof text, "%lld:%.2f|%lld:%.2f|Warnings:", static_cast<long long>(effect.gain_at),
                  effect.gain, static_cast<long long>(effect.loss_at), effect.loss);
    return text;
}

std::string entry_of(const SpliceAllele& allele, const GeneEffect& effect, const std::string& symbol) {
    if (allele.status == SpliceStatus::mnv) return allele.alt + "|" + symbol + "|" + no_scores;
    if (const auto* pangolin = std::get_if<PangolinEffect>(&effect.effect))
        return symbol + "|" + pangolin_text(*pangolin);
    return allele.alt + "|" + symbol + "|" + text_of(std::get<SpliceEffect>(effect.effect));
}

}  // namespace

rows::Provenance SpliceRun::provenance() const {
    return {{"bigbird-dna", std::string(version())},
            {"model_sha256", weights_sha256},
            {"annotation_sha256", annotation_sha256},
            {"mode", std::string(word_of(tasks::splice_mode_choices, options.mode))},
            {"distance", std::to_string(options.distance)},
            {"mask", options.mask ? "1" : "0"}};
}

std::vector<std::string> header_lines(const SpliceRun& run) {
    const std::string by = "bigbird-dna " + std::string(version()) + ", mode " +
                           std::string(word_of(tasks::splice_mode_choices, run.options.mode)) +
                           ", weights of " + run.family + " with SHA-256 " +
                           run.weights_sha256.substr(0, shown_digits);
    const std::string format =
        run.pangolin
            ? "the largest gain and loss of splice sites over tissues, with their positions relative to POS. "
              "Format: gene|pos:gain|pos:loss|Warnings:"
            : "delta scores (DS) and delta positions (DP) of acceptor gain (AG), acceptor loss (AL), donor "
              "gain "
              "(DG) and donor loss (DL). Format: "
              "ALLELE|SYMBOL|DS_AG|DS_AL|DS_DG|DS_DL|DP_AG|DP_AL|DP_DG|DP_DL";
    std::vector<std::string> lines{"##INFO=<ID=" + run.info_name() + ",Number=.,Type=String,Description=\"" +
                                   by + ": " + format + "\">"};
    if (run.writes_status)
        lines.push_back("##INFO=<ID=" + run.status_name() +
                        ",Number=.,Type=String,Description=\"Whether alleles have scores (ok), or why not. "
                        "Format: ALLELE|STATUS\">");
    for (const auto& [key, value] : run.provenance())
        lines.push_back("##" + (key.starts_with("bigbird") ? key : "bigbird-dna_" + key) + "=" + value);
    return lines;
}

std::string info_of(const SpliceRecord& record, const std::vector<rows::SpliceGene>& genes) {
    std::string text;
    for (const SpliceAllele& allele : record.alleles) {
        if (allele.status != SpliceStatus::ok && allele.status != SpliceStatus::mnv) continue;
        for (const GeneEffect& effect : allele.genes)
            text += (text.empty() ? "" : ",") + entry_of(allele, effect, symbol_of(genes[effect.gene].name));
    }
    return text;
}

std::string statuses_of(const SpliceRecord& record) {
    std::string text;
    for (const SpliceAllele& allele : record.alleles)
        ((text += text.empty() ? "" : ",") += allele.alt + "|") += word_of(splice_statuses, allele.status);
    return text;
}

outputs::TableSchema schema_of(const SpliceRun& run) {
    using outputs::FieldKind;
    outputs::TableSchema schema;
    schema.head = {{"chrom"},
                   {"pos", FieldKind::integer},
                   {"id"},
                   {"ref"},
                   {"alt"},
                   {"status"},
                   {"gene", FieldKind::text, true},
                   {"strand", FieldKind::text, true}};
    const std::vector<const char*> names =
        run.pangolin ? std::vector<const char*>{"gain", "loss", "gain_position", "loss_position"}
                     : std::vector<const char*>{"DS_AG", "DS_AL", "DS_DG", "DS_DL",
                                                "DP_AG", "DP_AL", "DP_DG", "DP_DL"};
    for (std::size_t i = 0; i < names.size(); ++i)
        schema.columns.push_back({names[i], static_cast<std::int64_t>(i), ".", names[i], names[i]});
    schema.provenance = run.provenance();
    return schema;
}

std::vector<rows::Field> fields_of(const SpliceRecord& record, const SpliceAllele& allele,
                                   const rows::SpliceGene* gene) {
    const genome::Variant& variant = record.variant;
    return {variant.contig,
            variant.position + 1,
            variant.id,
            variant.ref,
            allele.alt,
            word_of(splice_statuses, allele.status),
            gene != nullptr ? std::string_view(gene->name) : ".",
            gene != nullptr ? std::string_view(gene->reverse() ? "-" : "+") : "."};
}

std::vector<float> values_of(const SpliceAllele& allele, const GeneEffect& effect) {
    if (allele.status != SpliceStatus::ok) return {};
    std::vector<float> values;
    const auto add = [&](double value) { values.push_back(static_cast<float>(value) + 0.0F); };  // no -0
    if (const auto* pangolin = std::get_if<PangolinEffect>(&effect.effect)) {
        for (const double value : {pangolin->gain, pangolin->loss})
            add(value);
        for (const std::int64_t position : {pangolin->gain_at, pangolin->loss_at})
            add(static_cast<double>(position));
        return values;
    }
    const auto& splice = std::get<SpliceEffect>(effect.effect);
    for (const double score : splice.scores)
        add(score);
    for (const std::int64_t position : splice.positions)
        add(static_cast<double>(position));
    return values;
}

}  // namespace bigbird::splicing
