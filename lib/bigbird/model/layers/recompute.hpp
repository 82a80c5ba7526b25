// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace bigbird::model {

/// layer(x). Keeps only x for the backward pass, which recomputes the rest (Chen et al. 2016, sublinear
/// memory). `layer` must return the same result each time, and outlive the graph. Parameters that it uses get
/// their gradients in .grad. Recomputation uses the same autocast as the first pass.
at::Tensor recomputed(const std::function<at::Tensor(const at::Tensor&)>& layer, const at::Tensor& x);

}  // namespace bigbird::model
