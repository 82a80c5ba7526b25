// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace bigbird::model {

using Tensors = std::vector<at::Tensor>;

/// Gradients of the inputs, in their order, from gradients of the results. An undefined one is 0. Autograd
/// casts each to its input's type.
using Slopes = std::function<Tensors(const Tensors& gradients)>;

/// Makes `results`, which were computed from `inputs` without autograd, differentiable once by `slopes`. Does
/// nothing where no input has a gradient; inputs may be undefined. `slopes` is freed, with the tensors that
/// it holds, as soon as the backward pass has called it. It must not hold a result.
void set_gradient(const Tensors& results, const Tensors& inputs, Slopes slopes);

}  // namespace bigbird::model
