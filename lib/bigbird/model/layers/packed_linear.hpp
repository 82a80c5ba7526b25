// SPDX-License-Identifier: Apache-2.0
// Three linear layers on one input as one product: for queries, keys and values in training on a GPU. The
// parameters stay the three layers' own; their weights are concatenated each time, which costs no more than
// autocast's casting of them. Forward and backward take one product each instead of three; in the backward
// pass, also instead of two sums. The slow twin is LinearImpl::forward() of each.
#pragma once

#include "bigbird/model/layers/layers.hpp"

#include <array>
#include <vector>

namespace bigbird::model {

/// Returns the layers' results for x (…, in), each (…, out) and a view of the columns of one tensor. The
/// layers have the same shape, and all or none have a bias. Computes in x's type or, under autocast, in
/// autocast's. Differentiable; gradients of the parameters come in their own type. Do not modify the results
/// in place.
std::array<at::Tensor, 3> packed_linear(const at::Tensor& x, const std::array<const LinearImpl*, 3>& layers);

/// Returns the tensor (rows, parts * columns) whose columns are `parts` (…, columns), without a copy, where
/// memory has that order; else undefined.
at::Tensor side_by_side(const std::vector<at::Tensor>& parts);

}  // namespace bigbird::model
