// SPDX-License-Identifier: Apache-2.0
// Effects of variants, and their background. Functions write output rows in input order. Memory does not grow
// with the number of rows. Outputs appear only after all rows are written. Each throws InputError,
// ConfigError, DeviceError, WriteError, Stopped.
#pragma once

#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <string>

namespace bigbird::tasks {

struct VariantReport {
    std::int64_t rows = 0, scored = 0;
    std::int64_t not_numbers = 0;  ///< scored rows with an effect that is not a number
};

/// Writes a row per alternative allele. The first columns are chrom, pos (1-based), id, ref, alt, status and
/// n_fraction; promoter models add the name of the TSS; then top_label, top_effect and top_p (TopEffect). For
/// each label of a task model:
///   LABEL:ref, LABEL:alt  the scores of both windows (VariantRows)
///   LABEL:difference      alt - ref
///   LABEL:log_odds        ln(alt / (1 - alt)) - ln(ref / (1 - ref)); additive() of coverage and numbers
/// and of a model that gives profiles (profile_figures.hpp), each the mean over the models:
///   LABEL:log2_fold_change        log2 of exp(log count), alt / ref
///   LABEL:jsd                     profile_distance()
///   LABEL:jsd_p                   share of shuffled variants with at least this distance
///   LABEL:active_allele_quantile  quantile_among() the background's peaks, of the allele with more reads
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
    std::int64_t variants = 0, shuffled = 0, peaks = 0;
};

/// Writes the background of effects (outputs::EffectBackground) of a VCF's variants. At most `count` of them
/// are used, drawn at random. It also scores `count` of their alleles at random positions of the reference.
/// Substitutions and insertions need a position with the same REF; deletions can be anywhere. With `regions`,
/// also the reads of at most `count` of these peaks: of windows around their summits that are on the
/// reference.
BackgroundReport build_background(const BackgroundSpec& spec);

}  // namespace bigbird::tasks
