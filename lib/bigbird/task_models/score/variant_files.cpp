// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/variant_files.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t many_labels = 1000;

std::vector<fs::path> paths_of(const VariantSpec& spec) {
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

std::vector<std::string> header_lines(const VariantSpec& spec, const rows::Provenance& provenance) {
    std::vector<std::string> lines{
        "##INFO=<ID=BIGBIRD,Number=.,Type=String,Description=\"Effects of alleles by label: "
        "ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS\">",
        "##INFO=<ID=BIGBIRD_MAX,Number=A,Type=Float,Description=\"Largest absolute LOGODDS of any label\">"};
    for (const auto& [key, value] : provenance)
        lines.push_back("##" + (key.starts_with("bigbird") ? key : "bigbird-dna_" + key) + "=" + value);
    lines.push_back("##bigbird-dna_labels=" + (spec.labels.empty()
                                                   ? "the " + std::to_string(spec.top) + " of largest effect"
                                                   : spec.labels));
    if (spec.dtype != "auto") lines.push_back("##bigbird-dna_dtype=" + spec.dtype);
    return lines;
}

}  // namespace

/// A file and the number of its records.
class VariantFile {
public:
    VariantFile(const fs::path& path, Overwrite overwrite, std::shared_ptr<genome::VariantHeader> header,
                int threads)
        : writer_(path, overwrite, std::move(header), threads) {}
    void write(const genome::Variant& variant) {
        writer_.write(variant);
        ++records_;
    }
    std::int64_t records() const { return records_; }
    void finish(std::vector<PendingOutput*>& pending) { writer_.finish(pending); }

private:
    genome::VariantWriter writer_;
    std::int64_t records_ = 0;
};

namespace {

/// The sink that Outputs requires.
class VariantSink : public outputs::Sink {
public:
    explicit VariantSink(std::shared_ptr<VariantFile> file) : file_(std::move(file)) {}
    void write(std::span<const rows::Field>, std::span<const float>) override {}
    std::int64_t records() const override { return file_->records(); }
    void finish(std::vector<PendingOutput*>& pending) override { file_->finish(pending); }

private:
    std::shared_ptr<VariantFile> file_;
};

}  // namespace

void VariantFiles::prepare(const VariantSpec& spec) {
    for (const fs::path& path : paths_of(spec))
        genome::prepare_variant_output(path, spec.outputs.overwrite);
}

VariantFiles::VariantFiles(const VariantSpec& spec, std::vector<std::string> labels,
                           const rows::Provenance& provenance, rows::VariantRows& rows, int threads)
    : labels_(std::move(labels)),
      most_labels_(spec.labels.empty() ? std::min(static_cast<std::size_t>(spec.top), labels_.size())
                                       : labels_.size()) {
    const std::vector<fs::path> paths = paths_of(spec);
    if (paths.empty()) return;
    std::ranges::transform(labels_, labels_.begin(), escaped);
    header_ = rows.keep_records(header_lines(spec, provenance));
    for (const fs::path& path : paths) {
        files_.emplace_back(path,
                            std::make_shared<VariantFile>(path, spec.outputs.overwrite, header_, threads));
    }
    if (most_labels_ > many_labels) {
        log_warning(
            "each allele gets {} entries in INFO, one per label; for those with the largest effects only, {}",
            most_labels_, spec.labels.empty() ? "leave out --top" : "leave out --labels");
    }
}

void VariantFiles::join(outputs::Outputs& outputs) {
    for (const auto& [path, file] : files_)
        outputs.adopt(std::make_unique<VariantSink>(file), outputs::Kind::variants, path);
}

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
    if (most_labels_ < order.size()) {
        std::ranges::stable_sort(order, std::ranges::greater(),
                                 [&](std::size_t i) { return std::abs(effects[i].log_odds); });
        order.resize(most_labels_);
    }
    for (const std::size_t i : order) {
        start(labels_[i]);
        for (const float value : {effects[i].ref, effects[i].alt, effects[i].log_odds, effects[i].quantile})
            append_value(entries_, value);
        end();
    }
}

void VariantFiles::begin(const rows::VariantRow& row) {
    if (row.whole != record_) end_record();
}

void VariantFiles::write(const rows::VariantRow& row, const AlleleEffects& effects) {
    if (files_.empty()) return;
    record_ = row.whole;
    add_entries(row, effects);
    float largest = effects.empty() ? std::numeric_limits<float>::quiet_NaN() : 0;
    for (const AlleleEffect& effect : effects)
        largest = std::max(largest, std::abs(effect.log_odds));
    largest_.push_back(largest);
}

void VariantFiles::end_record() {
    if (!record_) return;
    std::vector<genome::VariantField> fields{{"BIGBIRD", entries_}};
    if (!record_->alts.empty()) fields.push_back({"BIGBIRD_MAX", {}, largest_});
    genome::set_info(*record_, *header_, fields);
    for (const auto& [path, file] : files_)
        file->write(*record_);
    entries_.clear();
    largest_.clear();
    record_.reset();
}

}  // namespace bigbird::task_models
