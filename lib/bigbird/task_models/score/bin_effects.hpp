// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/score/variant_files.hpp"

#include <span>

namespace bigbird::task_models {

/// Effect of an allele on one label over one or more bins, the same number for both alleles. d: the bins'
/// differences of scores. l: their differences on the scale of additive(). Each BinScorer gives:
///   centre, max  the bin with the largest absolute l (centre has only one bin)
///   mean         means over the bins of ref, alt, d and l
///   l2           means of ref and alt; sqrt(sum of d^2) and sqrt(sum of l^2)
///   sum          sums of ref, alt and d; for probabilities also the sum of l, otherwise the
///                difference of additive() of both sums
AlleleEffect effect_over(std::span<const double> ref, std::span<const double> alt, BinScorer scorer,
                         LinkFunction link);

}  // namespace bigbird::task_models
