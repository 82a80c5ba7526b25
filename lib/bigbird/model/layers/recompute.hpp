// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace bigbird::model {

/// layer(x), of which only x is kept for the backward pass, which recomputes the rest (Chen et al. 2016,
/// sublinear memory). `layer` must give the same each time, and outlive the graph. Parameters that it uses
/// get their gradients in .grad. Under autocast the second time is as the first.
at::Tensor recomputed(const std::function<at::Tensor(const at::Tensor&)>& layer, const at::Tensor& x);

}  // namespace bigbird::model
