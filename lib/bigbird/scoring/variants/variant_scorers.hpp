// SPDX-License-Identifier: Apache-2.0
// Scores of both alleles of a variant, by task models or by how likely a pretrained network finds them. Runs
// get their scorer from a VariantWork.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/tasks/files/task_files.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"
#include "bigbird/tasks/task_network.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// A model's effect of one allele on one label. Task models give the scores of REF and ALT, ALT - REF, and
/// the difference of additive(): of log odds, of logarithms for coverage, of numbers. Pretrained models give
/// log likelihoods of REF and ALT, and their difference in both other fields.
struct AlleleEffect {
    float ref = 0, alt = 0, difference = 0, log_odds = 0;
    float quantile = NAN, p = NAN;  ///< ranks in a background (outputs::EffectBackground)
    /// Of models that give profiles (profile_figures.hpp): means over the models, of p-values geometric ones.
    float log2_fold_change = NAN, jsd = NAN, jsd_p = NAN, active_allele_quantile = NAN;
};
/// One effect per label; empty if the allele has no scores.
using AlleleEffects = std::vector<AlleleEffect>;

/// The effect of an allele whose log_odds is largest in size over its labels.
struct TopEffect {
    std::optional<std::size_t>
        label;           ///< index of the effect, the first of equal ones; unset: none is a number
    float effect = NAN;  ///< its log_odds
    float p = NAN;       ///< EffectBackground::p_of_largest
};
TopEffect top_of(const AlleleEffects& effects);

/// Effect of an allele on one label over one or more bins, the same number for both alleles. d: the bins'
/// differences of scores. l: their differences on the scale of additive(). Each BinScorer gives:
///   centre, max  the bin with the largest absolute l (centre has only one bin)
///   mean         means over the bins of ref, alt, d and l
///   l2           means of ref and alt; sqrt(sum of d^2) and sqrt(sum of l^2)
///   sum          sums of ref, alt and d; for probabilities also the sum of l, otherwise the
///                difference of additive() of both sums
AlleleEffect effect_over(std::span<const double> ref, std::span<const double> alt, BinScorer scorer,
                         LinkFunction link);

/// What one model that gives profiles says of an allele and a label, and the p-values of both figures.
struct ModelFigures {
    double log2_fold_change = NAN, jsd = NAN;
};
using RankFigures = std::function<ModelFigures(std::size_t model, std::size_t label, const ModelFigures&)>;

/// Scores rows of variants with a task model or a pretrained model.
class VariantScorer {
public:
    virtual ~VariantScorer() = default;
    /// Returns effects by row; they are empty for rows without scores. May change statuses to truncated, and
    /// to too_long where alleles have more tokens than the network.
    virtual std::vector<AlleleEffects> score(std::span<rows::VariantRow> rows, int threads) = 0;
    /// The reads of windows of normalized sequence, for each model and each of `labels`; only of models that
    /// give profiles.
    virtual std::vector<std::vector<float>> reads_of(std::span<const std::string>) { return {}; }

    /// Number of rows per call of score(), so that a call takes seconds at most.
    std::size_t rows_at_once = 256;
    bool gives_profiles = false;  ///< whether effects have a log2_fold_change and a jsd
    double count_offset = 0;      ///< what exp(log count) is above the reads; 0: scores are no reads
    /// The reads of peaks, ascending, by model and label as in reads_of(). With them effects have an
    /// active_allele_quantile.
    std::vector<std::vector<float>> peaks{};
    /// Called for the figures of each model; what it returns gives p and jsd_p. `label`: an index of labels.
    RankFigures rank{};
    std::int64_t window = 0;
    /// Maps a variant's position to the start of its window on a grid; empty if windows are centered on
    /// variants.
    rows::VariantRows::BeginOf begin_of{};
    /// Whether bins on both sides of an indel are compared, which needs `aligned` rows.
    bool aligned = false;
    /// The window around a TSS; nullopt if windows are centered on variants.
    std::optional<rows::WindowBounds> about_tss{};
    std::vector<std::string> labels;  ///< of a row's effects
    /// What AlleleEffect::log_odds holds: additive_effect() or "log_likelihood_ratio".
    std::string effect;
    /// The labels' columns in tables; none if the model is only pretrained.
    std::vector<outputs::Column> label_columns{};
    /// The settings that affect effects, besides the reference: task, checksums of the models, window,
    /// strands.
    rows::Provenance run;
};

/// Two sequences that are equal before and after the alleles.
struct AllelePair {
    std::string ref, alt;
};

/// Natural logarithms.
struct MaskedScore {
    double ref = 0, alt = 0;
};

/// Scores pairs of alleles with a masked language model. Encodes both sequences. Common tokens at the
/// beginning and the end are kept. The tokens between cover the alleles and the bases around them; they are
/// all masked at once. An allele's score is the sum of the log probabilities of its masked tokens, or with
/// Strands::average the mean of both strands. Returns nullopt for pairs with equal tokens, for pairs that are
/// only N, for alleles with more tokens than the network has positions, and for alleles that change more than
/// one of Nucleotide Transformer's k-mers. Sequences with more tokens than
/// the network has positions keep the tokens around the alleles. One thread at a time.
class MaskedScorer {
public:
    MaskedScorer(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer, Strands strands,
                 const Job& job);

    std::vector<std::optional<MaskedScore>> score(std::span<const AllelePair> pairs, int threads);

    /// The network's input for a sequence, and the tokens to predict.
    struct Query {
        model::TokenSequence input;           ///< with [MASK]
        std::vector<std::int32_t> originals;  ///< original ids of the masked tokens
        std::int64_t first_masked = 0;        ///< the masked tokens are adjacent
    };
    /// The queries of ref and alt; empty if both have the same tokens. Thread-safe.
    std::vector<Query> queries_of(std::string_view ref, std::string_view alt) const;

private:
    std::vector<double> log_likelihoods(std::span<const Query> queries);
    /// (masked) float64 on the CPU: ln p of the originals at positions of hidden (batch, length, hidden).
    at::Tensor log_p_of(const at::Tensor& hidden, std::vector<std::int64_t> positions,
                        std::vector<std::int64_t> originals);

    model::PreTrainingModel network_;
    tokenizer::DnaTokenizer tokenizer_;
    Strands strands_;
    Job job_;
    std::int64_t max_tokens_;
};

/// Moves alleles to `count` random positions. Substitutions and insertions need a position with the same REF;
/// deletions can be anywhere. Returns rows in the reference's order, so that neighbors share windows. Throws
/// ConfigError if there are no such positions.
std::vector<rows::VariantRow> shuffled_variants(std::span<const rows::VariantRow> from,
                                                const genome::ReferenceGenome& reference, std::int64_t count,
                                                std::uint64_t seed);

/// A scorer by the mean of models of one task, each opened. `labels`: LabelTable::select. `scorer`, over
/// `bins` bins around the variant's, is for models of bins. Throws ConfigError if models, labels or bins do
/// not match.
std::unique_ptr<VariantScorer> task_scorer(std::vector<ModelFolder> models, std::string_view labels,
                                           Strands strands, BinScorer scorer, std::int64_t bins,
                                           std::int64_t batch_tokens);
/// A scorer by a pretrained model, which reads `window` bases around a variant. `sha256`: of its weights.
std::unique_ptr<VariantScorer> pretrained_scorer(MaskedScorer scorer, std::int64_t window,
                                                 const std::string& sha256);
/// Throws ConfigError if effects are over several bins, which models with one score per window do not have.
void require_one_bin(BinScorer scorer);

}  // namespace bigbird::tasks
