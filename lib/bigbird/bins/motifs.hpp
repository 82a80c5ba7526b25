// SPDX-License-Identifier: Apache-2.0
// Motifs as filters of a model's first convolution.
#pragma once

#include "bigbird/motifs/enriched_motifs.hpp"

#include <ATen/core/Tensor.h>

namespace bigbird::bins {

/// Writes motifs, centered, over the first filters: each minus its mean per position, scaled to the norm
/// `norm`, plus a quarter of the old weights. weight: (channels, 4, width), a float32 tensor on the CPU;
/// motifs that are wider are cut at both ends. Motifs beyond the channels are not used.
void plant_motifs(const at::Tensor& weight, const motifs::MotifSet& set, double norm);

// A label's own motif is the filter of the first convolution whose best site in a bin predicts the label
// best. Its value goes directly to the head, with one weight per label. So a decisive motif (such as CTCF's)
// is not lost among the features that all labels share.

/// logits += (sites - mean) weight^T. A weight of 0 means that the filter is not the label's own; it stays 0.
struct OwnMotifs {
    at::Tensor mean;    // (filters) of the best sites
    at::Tensor weight;  // (labels, filters)
};

/// Chooses on `bins`, for each label with 15 bins or more, the filter with the largest AUROC, if it exceeds
/// the sixth largest by 0.05 and by two standard errors. Its weight is 1 / the standard deviation of its
/// sites in the background; `mean` is their mean there. filters: (filters, 4, width) float32 on the CPU; both
/// strands count.
OwnMotifs choose_own_motifs(const at::Tensor& filters, const motifs::LabelledSequence& bins);

}  // namespace bigbird::bins
