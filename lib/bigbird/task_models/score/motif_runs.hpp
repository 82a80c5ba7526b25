// SPDX-License-Identifier: Apache-2.0
// The verbs of motifs that need a network. Each throws InputError, ConfigError, DeviceError, WriteError,
// Stopped.
#pragma once

#include "bigbird/task_models/specs/motif_specs.hpp"

#include <cstdint>

namespace bigbird::task_models {

/// Writes the motifs that a model of bins or records began with, where its run folder keeps them, and each
/// filter of its first convolution as the letters under its sites: where it finds more than half of the most
/// that it finds anywhere in the sequences, on either strand if the network reads both. A filter's name is
/// the label that it goes to directly (bins/own_motifs.hpp), else the one whose logits follow its best sites
/// most (Pearson's r). Filters that find nothing are left out. Returns the number of motifs.
std::int64_t export_motifs(const ExportMotifsSpec& spec);

/// For each motif and label the mean difference that the motif makes to backgrounds (as
/// tangermeme.marginalize with the motif's likeliest letters), with its standard error, as a table. Of a bin
/// model in the bin whose middle the motif takes, at the window's middle; of records the record's score.
/// Differences are of log odds; of numbers, of the numbers. With spacings, for each two motifs, in either
/// order, with so many bases between them: the effect of both, and that effect less those of each of the two
/// in its place (as tangermeme.space scores them). Returns the number of backgrounds.
std::int64_t marginalize_motifs(const MarginalizeSpec& spec);

}  // namespace bigbird::task_models
