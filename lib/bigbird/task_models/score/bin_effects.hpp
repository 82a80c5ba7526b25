// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/score/variant_files.hpp"

#include <span>

namespace bigbird::task_models {

/// One label's effect over some bins, at least one, as many of both alleles. d are the differences of scores,
/// l those on the scale of additive(), bin by bin:
///   centre, max  of the bin whose l is largest in absolute value (of centre the only bin)
///   mean         means over the bins of ref, alt, d and l
///   l2           means of ref and alt; sqrt(sum of d^2) and sqrt(sum of l^2)
///   sum          sums of ref, alt and d; of probabilities the sum of l, otherwise the difference of
///                additive() of both sums
AlleleEffect effect_over(std::span<const double> ref, std::span<const double> alt, BinScorer scorer,
                         LinkFunction link);

}  // namespace bigbird::task_models
