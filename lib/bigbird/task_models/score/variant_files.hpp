// SPDX-License-Identifier: Apache-2.0
// Writes the effects of variants into INFO fields of the input's records: VCF and BCF.
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

/// A model's effect of one allele on one label. Task models give the probabilities of REF and ALT, ALT - REF,
/// and the difference of log odds. Pretrained models give log likelihoods of REF and ALT, and their
/// difference in both other fields.
struct AlleleEffect {
    float ref = 0, alt = 0, difference = 0, log_odds = 0;
    float quantile = NAN, p = NAN;  ///< ranks in a background (outputs::EffectBackground)
};
/// One effect per label; empty if the allele has no scores.
using AlleleEffects = std::vector<AlleleEffect>;

class VariantFile;

/// The outputs of a run that are VCF or BCF. They contain every input record, in order, with
/// two more INFO fields (FORMAT.md, "Variants with effects"). Not thread-safe.
class VariantFiles {
public:
    /// Throws ConfigError if an output or its index cannot be created.
    static void prepare(const VariantSpec& spec);
    /// `labels`: names of the effects that are passed to write(). Call it before a row is read. Throws
    /// ConfigError.
    VariantFiles(const VariantSpec& spec, std::vector<std::string> labels, const rows::Provenance& provenance,
                 rows::VariantRows& rows, int threads);

    /// Adds the files to `outputs`, which ends and renames them with the other outputs. Call it before
    /// write().
    void join(outputs::Outputs& outputs);
    /// Announces the next row. Ends the previous record unless the row belongs to it. Throws WriteError.
    void begin(const rows::VariantRow& row);
    /// Adds the effects of one allele; call it after begin() for the same row. Throws WriteError.
    void write(const rows::VariantRow& row, const AlleleEffects& effects);
    /// Ends the last record. Throws WriteError.
    void end_record();

private:
    /// Adds ALLELE|LABEL|REF|ALT|LOGODDS|QUANTILE|STATUS for each label.
    void add_entries(const rows::VariantRow& row, const AlleleEffects& effects);

    std::vector<std::string> labels_;
    std::size_t most_labels_;
    std::shared_ptr<genome::VariantHeader> header_;
    std::vector<std::pair<std::filesystem::path, std::shared_ptr<VariantFile>>> files_;
    std::shared_ptr<const genome::Variant> record_;  ///< the record of the current alleles
    std::string entries_;
    std::vector<float> largest_;
};

}  // namespace bigbird::task_models
