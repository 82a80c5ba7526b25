// SPDX-License-Identifier: Apache-2.0
// A sample of train's bins, enriched in rare labels, for the motif search.
#pragma once

#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/task_models/train/bin_data.hpp"

#include <cstdint>

namespace bigbird::task_models {

/// Limits on the bins of a sample.
struct SampleSize {
    std::int64_t background = 0;  ///< drawn from all
    std::int64_t of_label = 0;    ///< each label gets extra bins up to this number,
    std::int64_t of_labels = 0;   ///< but all labels together get at most this many extra bins
};

/// Returns all bins that count, in order, if there are at most `background` of them; else a sample of at most
/// background + of_labels bins, drawn by `rng`. Reads each label once and the sequence of the sample; memory
/// does not grow with the genome.
bins::LabelledSequence sample_of(const BinWindows& windows, const SampleSize& size, const Rng& rng);

}  // namespace bigbird::task_models
