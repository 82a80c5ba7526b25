// SPDX-License-Identifier: Apache-2.0
// Scores of both alleles of a variant, for predict_variants(), forecast_variants() and build_background().
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
    /// Selects the quantities that get columns. Call it before columns().
    virtual void choose(std::vector<Quantity> quantities) { quantities_ = std::move(quantities); }
    /// The columns of tables.
    virtual std::vector<outputs::Column> columns() const = 0;
    /// The values of these columns.
    std::vector<float> values_of(const AlleleEffects& effects) const;
    /// Returns effects by row; they are empty for rows without scores. May change statuses to truncated.
    virtual std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) = 0;

    std::int64_t window = 0;
    /// Maps a variant's position to the start of its window on a grid; empty if windows are centered on
    /// variants.
    rows::VariantRows::BeginOf begin_of{};
    /// Whether bins on both sides of an indel are compared, which needs `aligned` rows.
    bool aligned = false;
    /// The window around a TSS; nullopt if windows are centered on variants.
    std::optional<rows::WindowBounds> about_tss{};
    std::vector<std::string> labels;  ///< of a row's effects
    /// The settings that affect effects, besides the reference: task, checksums of the models, window,
    /// strands.
    rows::Provenance run;

protected:
    std::vector<Quantity> quantities_;
};

/// What reads and scores the variants of a run.
struct VariantWork {
    /// Opens the models, the reference and the variants of `spec`. Warns of another build, unless in a dry
    /// run. Throws ConfigError if models, options and --tss do not match. Throws InputError, DeviceError.
    explicit VariantWork(const VariantSpec& spec);
    VariantWork(const VariantWork&) = delete;
    VariantWork& operator=(const VariantWork&) = delete;

    int threads;
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::unique_ptr<VariantScorer> scorer;
    std::optional<rows::TssIndex> tss;
    rows::VariantRows rows;
};

}  // namespace bigbird::task_models
