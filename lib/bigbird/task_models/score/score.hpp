// SPDX-License-Identifier: Apache-2.0
// The verbs that score rows. Each writes rows in the order in which they come in, in memory that does not
// grow with their number; outputs appear when all rows are written. Each throws InputError, ConfigError,
// DeviceError, WriteError, Stopped.
#pragma once

#include "bigbird/task_models/score/predict_forecast.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <string>

namespace bigbird::task_models {

struct PredictReport {
    std::int64_t rows = 0, scored = 0, truncated = 0;
    std::int64_t not_numbers = 0;  ///< of those scored: a score is no number, for the weights overflow
    std::int64_t longer = 0;       ///< of those scored: longer than a bin of the model
    double seconds = 0;
};

/// A row for each row that comes in. A promoter row's window lies about its TSS base (rows::tss_of: the first
/// base, on the minus strand the last), a chromatin row's about its middle.
PredictReport predict(const PredictSpec& spec);

/// What predict() would take, told from all rows and some of their scores, which are computed for about
/// `seconds_of_trial`; writes none of the outputs.
PredictForecast forecast_predict(const PredictSpec& spec, double seconds_of_trial = 3);

struct PredictTokensReport {
    std::int64_t regions = 0, bases = 0, scored = 0, rows = 0;
    std::int64_t truncated = 0;  ///< windows with more tokens than the model has positions
    double seconds = 0;
};

/// Scores every base of the regions: a row for each run of bases with equal scores, or one per base. Windows
/// lie on a grid of contig coordinates, each scores the bases between its margins, and a row never reaches
/// over such a border; so a base's scores depend on the reference and its position only.
PredictTokensReport predict_tokens(const PredictTokensSpec& spec);

struct VariantReport {
    std::int64_t rows = 0, scored = 0;
    double seconds = 0;
};

/// A row for each alternative allele, with chrom pos (1-based) id ref alt status n_fraction before the
/// scores. Task model: for each label LABEL:ref and LABEL:alt, the probabilities of both windows
/// (VariantRows; of bin models the bin that holds POS, in the contig's grid of windows), LABEL:difference =
/// alt - ref and LABEL:log_odds = ln(alt / (1 - alt)) - ln(ref / (1 - ref)). A promoter model sees the window
/// of the nearest TSS that holds the variant, whose name is in a column tss behind n_fraction. Pretrained
/// model, without training for a task: log_likelihood_ref, log_likelihood_alt and log_odds, their difference
/// (MaskedScorer). Where there is a background (EffectRanks) LABEL:quantile and LABEL:p follow.
VariantReport predict_variants(const VariantSpec& spec);

struct VariantForecast {
    std::int64_t alleles = 0, tried = 0, scored = 0;  ///< of all; of those the tried; of these with scores
    double seconds = 0;                               ///< of scoring all, at the rate that was measured
    std::int64_t memory = 0;                          ///< bytes, the most that this process held
};

/// What predict_variants() would take, told from alleles spread over the file, which are scored for about
/// `seconds_of_trial`; writes none of the outputs.
VariantForecast forecast_variants(const VariantSpec& spec, double seconds_of_trial = 3);
/// For people: a line a fact.
std::string describe(const VariantForecast& forecast);

struct BackgroundReport {
    std::int64_t variants = 0, shuffled = 0;
    double seconds = 0;
};

/// Writes the background of effects (outputs::EffectBackground) of a VCF's variants, at most `count` of them
/// drawn at random, and of `count` of their alleles at random positions of the reference: a substitution or
/// an insertion where the reference has its REF, a deletion anywhere.
BackgroundReport build_background(const BackgroundSpec& spec);

struct MutagenesisReport {
    std::int64_t bases = 0;
    std::int64_t without_letter = 0;  ///< of them: N, which has no substitutions
    std::int64_t tiled = 0;           ///< cuts of regions longer than the scored part of a window
    double seconds = 0;
};

/// Scores every substitution of every base of the regions or records: in tables a line for each base and
/// label, with the effects of A, C, G and T, 0 for the reference's letter; in tracks each base's largest
/// effect. Effects are differences to the reference, of probabilities or of their log odds.
MutagenesisReport predict_mutagenesis(const MutagenesisSpec& spec);

struct AttributeReport {
    std::int64_t bases = 0;
    std::int64_t tiled = 0;  ///< cuts of regions longer than the scored part of a window
    /// Over regions and labels, of methods with a baseline: by how much contributions do not sum to the
    /// difference of scores, and that difference; sums of absolute numbers.
    double gap = 0, difference = 0;
    double seconds = 0;
};

/// What each base of BED rows, or of sequences, contributes to a row's score, before calibration: of a bin
/// model the mean of the logits of the bins that the row touches, as predict-mutagenesis has it, of a
/// sequence model the record's logits. The row's bases are compared with a baseline; what is around them
/// stays. In tables and arrays the hypothetical contributions of A, C, G and T, in tracks those of the bases
/// that are there.
AttributeReport attribute(const AttributeSpec& spec);

struct EmbedReport {
    std::int64_t rows = 0, embedded = 0, truncated = 0;
    double seconds = 0;
};

/// A row for each row that comes in, or one for each of its tokens with `token` (1, 2, …), `token_start` and
/// `token_end` (the bases that it spells, counted from the window's start on the strand that was read) and
/// `piece` behind the row's fields. Columns are d0 … d(hidden - 1).
EmbedReport embed(const EmbedSpec& spec);

}  // namespace bigbird::task_models
