// SPDX-License-Identifier: Apache-2.0
// A label's own motif: the first convolution's filter whose best site in a bin predicts the label best. Its
// value goes to the head beside the encoder's features, with one weight per label, so that a decisive motif
// (CTCF's) is not lost among features that all labels share.
#pragma once

#include "bigbird/bins/motifs.hpp"

#include <ATen/core/Tensor.h>

namespace bigbird::bins {

/// logits += (sites - mean) weight^T. Where a weight is 0 the filter is not the label's own, and it stays so.
struct OwnMotifs {
    at::Tensor mean;    // (filters) of the best sites
    at::Tensor weight;  // (labels, filters)
};

/// Chosen on `bins`: of a label with 15 bins or more, the filter of largest AUROC, where that is above the
/// sixth largest by 0.05 and by two standard errors. Its weight is 1 over the deviation of its sites in the
/// background, their mean is the background's.
/// filters: (filters, 4, width) float32 on the CPU; both strands count.
OwnMotifs choose_own_motifs(const at::Tensor& filters, const LabelledSequence& bins);

}  // namespace bigbird::bins
