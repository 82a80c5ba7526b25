// SPDX-License-Identifier: Apache-2.0
// The motif commands that need a network. Each function throws InputError, ConfigError, DeviceError,
// WriteError, Stopped.
#pragma once

#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>

namespace bigbird::tasks {

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

}  // namespace bigbird::tasks
