// SPDX-License-Identifier: Apache-2.0
// Functions that score rows. Each writes output rows in input order. Memory does not grow with the number of
// rows. Outputs appear only after all rows are written. Each function throws InputError, ConfigError,
// DeviceError, WriteError, Stopped.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

struct PredictReport {
    std::int64_t rows = 0, scored = 0, truncated = 0;
    std::int64_t not_numbers =
        0;                    ///< scored rows with a score that is not a number, because weights overflow
    std::int64_t longer = 0;  ///< scored rows that are longer than a bin of the model
};

/// Writes an output row per input row. A promoter row's window is around its TSS base (rows::tss_of: the
/// first base, or the last on the minus strand). A chromatin row's window is around its middle.
PredictReport predict(const PredictSpec& spec);

struct PredictForecast {
    std::int64_t rows = 0;           ///< rows in the input
    std::int64_t rows_out = 0;       ///< rows of the output table
    std::int64_t windows = 0;        ///< approximate number of windows to score; adjacent rows share them
    std::int64_t passes = 0;         ///< forward passes over a window, for all models and strands
    double share_with_sequence = 1;  ///< share of the tried rows that are not only N
    double seconds = 0;              ///< time for scoring, at the measured rate
    std::int64_t memory = 0;         ///< bytes; peak memory of this process during the measurement
    std::int64_t tried_rows = 0, tried_windows = 0;
    std::vector<std::pair<std::string, std::int64_t>> bytes{};  ///< output size by file extension
};
/// Estimates the cost of predict() by counting all rows and scoring some of them for about
/// `seconds_of_trial`. Writes no outputs.
PredictForecast forecast_predict(const PredictSpec& spec, double seconds_of_trial = 3);
/// Text for people, one fact per line.
std::string describe(const PredictForecast& forecast);

struct PredictTokensReport {
    std::int64_t regions = 0, bases = 0, scored = 0, rows = 0;
    std::int64_t truncated = 0;  ///< windows with more tokens than the model has positions
};

/// Scores every base of the regions. Writes a row per run of bases with equal scores, or a row per base.
/// Windows are on a grid of contig coordinates, and each scores only the bases between its margins. Rows
/// never extend across these borders. A base's scores therefore depend only on the reference and its
/// position.
PredictTokensReport predict_tokens(const PredictTokensSpec& spec);

struct VariantReport {
    std::int64_t rows = 0, scored = 0;
    std::int64_t not_numbers = 0;  ///< scored rows with an effect that is not a number
};

/// Writes a row per alternative allele. The first columns are chrom, pos (1-based), id, ref, alt, status and
/// n_fraction; promoter models add the name of the TSS. For each label of a task model:
///   LABEL:ref, LABEL:alt  the scores of both windows (VariantRows)
///   LABEL:difference      alt - ref
///   LABEL:log_odds        ln(alt / (1 - alt)) - ln(ref / (1 - ref)); additive() of coverage and numbers
/// A bin model scores the bin that contains POS, in the contig's grid of windows. A promoter model scores the
/// window of the nearest TSS whose window contains the variant. A pretrained model without task training
/// gives log_likelihood_ref, log_likelihood_alt and their difference, log_odds (MaskedScorer). With a
/// background (EffectRanks), LABEL:quantile and LABEL:p follow.
VariantReport predict_variants(const VariantSpec& spec);

struct VariantForecast {
    std::int64_t alleles = 0, tried = 0, scored = 0;  ///< all; the tried ones; the tried ones with scores
    double seconds = 0;                               ///< time for scoring all, at the measured rate
    std::int64_t memory = 0;                          ///< bytes; peak memory of this process
};

/// Estimates the cost of predict_variants() by scoring alleles from all over the file for about
/// `seconds_of_trial`. Writes no outputs.
VariantForecast forecast_variants(const VariantSpec& spec, double seconds_of_trial = 3);
/// Text for people, one fact per line.
std::string describe(const VariantForecast& forecast);

struct BackgroundReport {
    std::int64_t variants = 0, shuffled = 0;
};

/// Writes the background of effects (outputs::EffectBackground) of a VCF's variants. At most `count` of them
/// are used, drawn at random. It also scores `count` of their alleles at random positions of the reference.
/// Substitutions and insertions need a position with the same REF; deletions can be anywhere.
BackgroundReport build_background(const BackgroundSpec& spec);

struct MutagenesisReport {
    std::int64_t bases = 0;
    std::int64_t without_letter = 0;  ///< bases that are N, which have no substitutions
    std::int64_t too_short = 0;       ///< regions or records with fewer bases than a stretch
    std::int64_t tiled =
        0;  ///< regions that were cut because they are longer than the scored part of a window
};

/// Scores every substitution of every base of the regions or records. Effects are differences from the
/// reference, of probabilities or of their log odds. Tables have a row per base and label with the effects of
/// A, C, G and T, which are 0 for the reference's letter. Tracks have each base's largest effect.
MutagenesisReport predict_mutagenesis(const MutagenesisSpec& spec);

struct AttributeReport {
    std::int64_t bases = 0;
    std::int64_t tiled =
        0;  ///< regions that were cut because they are longer than the scored part of a window
    /// Sums over regions and labels, for methods with a baseline. `gap`: absolute errors of the sums of
    /// contributions. `difference`: absolute differences of scores, to which contributions should sum.
    double gap = 0, difference = 0;
};

/// Writes the contribution of each base of BED rows or sequences to the row's score, before calibration. The
/// score of a bin model is the mean of the logits of the bins that the row overlaps, as in
/// predict-mutagenesis. The score of a sequence model is the record's logits. Only the row's bases are
/// compared with a baseline; the sequence around them is kept. Tables and arrays have the hypothetical
/// contributions of A, C, G and T; tracks have those of the actual bases.
AttributeReport attribute(const AttributeSpec& spec);

struct EmbedReport {
    std::int64_t rows = 0, embedded = 0, truncated = 0;
};

/// Writes an output row per input row, or per token. Columns are d0 … d(hidden - 1). Rows of tokens also have
/// `token` (1, 2, …), `token_start`, `token_end` and `piece` after the input row's fields. Start and end are
/// in bases from the window's start, on the strand that was read.
EmbedReport embed(const EmbedSpec& spec);

// The motif commands that need a network. Each function throws InputError, ConfigError, DeviceError,
// WriteError, Stopped.

/// Writes the motifs that a bin or sequence model was initialized with, if its run folder keeps them, and a
/// motif of each filter of its first convolution. A filter's motif is built from its sites. A site scores
/// more than half of the filter's maximum in the sequences, on either strand if the network reads both. A
/// filter is named after the label that it feeds directly (bins/motifs.hpp). Other filters are named
/// after the label whose logits correlate most with their best sites (Pearson's r). Filters without sites are
/// omitted. Returns the number of motifs.
std::int64_t export_motifs(const ExportMotifsSpec& spec);

/// Writes a table of the mean effect of each motif on each label over backgrounds, with its standard error.
/// The motif's most likely letters are inserted, as in tangermeme.marginalize. Bin models insert them at the
/// window's middle and score the bin there; sequence models score the record. Effects are differences of log
/// odds, or of the numbers if the model predicts numbers. With spacings, inserts each ordered pair of motifs
/// with the given number of bases between them. It then reports the effect of both, and that effect minus the
/// effects of each (as in tangermeme.space). Returns the number of backgrounds.
std::int64_t marginalize_motifs(const MarginalizeSpec& spec);

}  // namespace bigbird::task_models
