// SPDX-License-Identifier: Apache-2.0
// Scores of each letter of rows. Functions write output rows in input order. Memory does not grow with the
// number of rows. Outputs appear only after all rows are written. Each throws InputError, ConfigError,
// DeviceError, WriteError, Stopped.
#pragma once

#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::tasks {

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
/// predict-mutagenesis. The score of a sequence model is the record's logits; that of a model that gives
/// profiles is profile_scores(). Only the row's bases are
/// compared with a baseline; the sequence around them is kept. Tables and arrays have the hypothetical
/// contributions of A, C, G and T; tracks have those of the actual bases.
AttributeReport attribute(const AttributeSpec& spec);

/// The contributions to one label, spec.labels, as motifs::find_motifs() takes them: the value of each base's
/// letter minus the mean of the four letters'. spec.outputs is not used.
std::vector<motifs::Contributions> contributions(const AttributeSpec& spec);

}  // namespace bigbird::tasks
