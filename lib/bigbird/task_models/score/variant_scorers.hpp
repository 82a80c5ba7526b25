// SPDX-License-Identifier: Apache-2.0
// Scores of both alleles of a variant, for predict_variants() and build_background().
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/outputs/table_schema.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/score/variant_files.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Effect of an allele on one label over one or more bins, the same number for both alleles. d: the bins'
/// differences of scores. l: their differences on the scale of additive(). Each BinScorer gives:
///   centre, max  the bin with the largest absolute l (centre has only one bin)
///   mean         means over the bins of ref, alt, d and l
///   l2           means of ref and alt; sqrt(sum of d^2) and sqrt(sum of l^2)
///   sum          sums of ref, alt and d; for probabilities also the sum of l, otherwise the
///                difference of additive() of both sums
AlleleEffect effect_over(std::span<const double> ref, std::span<const double> alt, BinScorer scorer,
                         LinkFunction link);

/// Scores rows of variants with a task model or a pretrained model.
class VariantScorer {
public:
    virtual ~VariantScorer() = default;
    virtual std::int64_t window() const = 0;
    /// Maps a variant's position to the start of its window on a grid; empty if windows are centered on
    /// variants.
    virtual rows::VariantRows::BeginOf begin_of() const { return {}; }
    /// Whether bins on both sides of an indel are compared, which needs `aligned` rows.
    virtual bool aligned() const { return false; }
    /// The window around a TSS; nullopt if windows are centered on variants.
    virtual std::optional<rows::WindowBounds> about_tss() const { return std::nullopt; }
    /// The labels of a row's effects.
    virtual std::vector<std::string> labels() const = 0;
    /// Selects the quantities that get columns. Call it before columns().
    void choose(std::vector<Quantity> quantities) { quantities_ = std::move(quantities); }
    /// The columns of tables.
    virtual std::vector<outputs::Column> columns() const = 0;
    /// The values of these columns.
    virtual std::vector<float> values_of(const AlleleEffects& effects) const = 0;
    virtual rows::Provenance provenance() const = 0;
    /// Returns effects by row; they are empty for rows without scores. May change statuses to truncated.
    virtual std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) = 0;
    virtual std::optional<std::string> other_build(const genome::ReferenceGenome&) const {
        return std::nullopt;
    }

protected:
    std::vector<Quantity> quantities_;
};

/// Loads the models of `spec`. Throws ConfigError if models, options and --tss do not match. Throws
/// InputError, DeviceError.
std::unique_ptr<VariantScorer> load_variant_scorer(const VariantSpec& spec);

/// The settings that affect effects, besides the reference: task, checksums of the models, window, strands.
rows::Provenance run_of(const VariantScorer& scorer, const VariantSpec& spec);

}  // namespace bigbird::task_models
