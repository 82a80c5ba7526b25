// SPDX-License-Identifier: Apache-2.0
// The records of a run's variants as VCF or BCF, with effects in INFO (FORMAT.md, "Variants with effects").
#pragma once

#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/variant_sink.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/scoring/variants/variant_scorers.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// The outputs of a run that are VCF or BCF. They contain every input record, in order, with more INFO
/// fields. Not thread-safe.
class VariantFiles {
public:
    /// `labels`: the columns of the effects that are passed to add(); none: of a pretrained model. `chosen`:
    /// the selection that they are; "": all, of which INFO gets the ones with the largest effects.
    /// `profiles`: effects have figures of profiles.
    VariantFiles(std::span<const outputs::Column> labels, const std::string& chosen, bool profiles);

    /// Adds the files of `spec` to `outputs`, which ends and renames them with the other outputs.
    /// `provenance`: of the header. Call it before a row is read. Throws ConfigError.
    void open(const outputs::OutputSpec& spec, const rows::Provenance& provenance, rows::VariantRows& rows,
              outputs::Outputs& outputs, int threads);
    /// Adds the effects of the next allele, of which `top` is the largest. Writes the previous record unless
    /// the allele belongs to it. Throws WriteError.
    void add(const rows::VariantRow& row, const AlleleEffects& effects, const TopEffect& top);
    /// Writes the last record. Throws WriteError.
    void end_record();

private:
    void add_entries(const rows::VariantRow& row, const AlleleEffects& effects);

    std::vector<std::string> labels_;
    std::string selection_;  ///< of labels, for the header
    bool by_size_;           ///< whether labels are those of the largest effects, largest first
    std::size_t most_labels_;
    bool profiles_;
    std::shared_ptr<genome::VariantHeader> header_;
    std::vector<outputs::VariantSink*> files_;       ///< those of the outputs
    std::shared_ptr<const genome::Variant> record_;  ///< the record of the current alleles
    std::string entries_, top_labels_;               ///< of the record so far
    std::vector<float> top_effects_, top_sizes_, top_ps_;
};

}  // namespace bigbird::tasks
