// SPDX-License-Identifier: Apache-2.0
// Effects of variants in the INFO fields of the records that they were read from: VCF and BCF.
#pragma once

#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// What a model says of one allele by one label. Of a label: probabilities of REF and ALT, ALT - REF, and
/// the difference of log odds; of a pretrained model: log likelihoods, and twice their difference.
struct AlleleEffect {
    float ref = 0, alt = 0, difference = 0, log_odds = 0;
    float quantile = NAN, p = NAN;  ///< among a background (outputs::EffectBackground)
};
/// One a label; none where the allele has no scores.
using AlleleEffects = std::vector<AlleleEffect>;

class VariantFile;

/// The outputs of a run that end in .vcf, .vcf.gz or .bcf. Every record of the input is there, in order, with
/// two more INFO fields (FORMAT.md, "Variants with effects"). Not thread-safe.
class VariantFiles {
public:
    /// Throws ConfigError where an output or its index cannot be made.
    static void prepare(const VariantSpec& spec);
    /// `labels`: names of the effects that write() gets. Call it before a row is read. Throws ConfigError.
    VariantFiles(const VariantSpec& spec, std::vector<std::string> labels, const rows::Provenance& provenance,
                 rows::VariantRows& rows, int threads);

    /// Hands the files over, to be ended and put in place with the others. Call it before write().
    void join(outputs::Outputs& outputs);
    /// A row comes next: ends the record before it, unless the row is of the same. Throws WriteError.
    void begin(const rows::VariantRow& row);
    /// The alleles of a record come one after another, each after begin(). Throws WriteError.
    void write(const rows::VariantRow& row, const AlleleEffects& effects);
    /// Ends the last record. Throws WriteError.
    void end_record();

private:
    /// ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS, one for each label.
    void add_entries(const rows::VariantRow& row, const AlleleEffects& effects);

    std::vector<std::string> labels_;
    std::size_t most_labels_;
    std::shared_ptr<genome::VariantHeader> header_;
    std::vector<std::pair<std::filesystem::path, std::shared_ptr<VariantFile>>> files_;
    std::shared_ptr<const genome::Variant> record_;  ///< whose alleles come
    std::string entries_;
    std::vector<float> largest_;
};

}  // namespace bigbird::task_models
