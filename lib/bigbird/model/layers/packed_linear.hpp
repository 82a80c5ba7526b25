// SPDX-License-Identifier: Apache-2.0
// Three linear layers on one input as one product: for queries, keys and values in training on a GPU. The
// parameters stay the three layers' own; their weights are put together anew each time, which costs what
// autocast's casting of them costs. Forward and backward one product each where there were three and, in the
// backward pass, two sums. The slow twin is LinearImpl::forward() of each.
#pragma once

#include "bigbird/model/layers/layers.hpp"

#include <array>
#include <vector>

namespace bigbird::model {

/// What the layers make of x (…, in), each (…, out) and a view of the columns of one tensor. The layers have
/// the same shape, and all a bias or none. In x's type or, under autocast, in autocast's. Differentiable;
/// gradients of the parameters come in their own type. Not to be changed in place.
std::array<at::Tensor, 3> packed_linear(const at::Tensor& x, const std::array<const LinearImpl*, 3>& layers);

/// The tensor (rows, parts * columns) whose columns `parts` (…, columns) are, without a copy, where they lie
/// so in memory; else undefined.
at::Tensor side_by_side(const std::vector<at::Tensor>& parts);

}  // namespace bigbird::model
