// SPDX-License-Identifier: Apache-2.0
// DeepLIFT's multipliers (Shrikumar et al. 2017), computed as gradients of the unmodified network. In each
// nonlinear operation, the slope between reference and input replaces the slope at the input.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace bigbird::bins {

/// While a guard exists, networks on this thread expect batches of inputs followed by an equal number of
/// references. Gradients of an input's outputs are then multipliers. Their products with (input - reference)
/// sum to the difference of the outputs. References have no gradients. `size`: number of points on the line
/// over which jointly() averages slopes.
class SecantGuard {
public:
    explicit SecantGuard(int size = 8);
    ~SecantGuard();
    SecantGuard(const SecantGuard&) = delete;
    SecantGuard& operator=(const SecantGuard&) = delete;

private:
    int before_;
};

/// Whether this thread has a SecantGuard.
bool takes_secants();

/// A function of a batch, (batch, …) -> (batch, …), which treats each sample separately.
using BatchFunction = std::function<at::Tensor(const at::Tensor&)>;

/// Returns f(x) for an elementwise f. Under a guard, slopes follow DeepLIFT's rescale rule, which is exact up
/// to rounding. Where input and reference differ by `near` or less, the slope is the derivative at their
/// midpoint, because rounding would dominate a quotient of differences. For piecewise linear f it does not:
/// give 0.
at::Tensor elementwise(const at::Tensor& x, const BatchFunction& f, double near = 1e-2);

/// Returns f(x) for an f that mixes the elements of a sample. Under a guard, the slope is the mean over the
/// straight line from reference to input, by Gauss-Legendre quadrature with the guard's points. The error
/// depends on how well the points resolve f on that line. It is largest where the input of a norm has almost
/// no variance (no letters).
at::Tensor jointly(const at::Tensor& x, const BatchFunction& f);

/// Maximum over a dimension. Under a guard, DeepLIFT's rule assigns the difference to the position of the
/// larger of both maxima, which is exact.
at::Tensor largest(const at::Tensor& x, std::int64_t dim);

/// Points and weights of Gauss-Legendre quadrature on [0, 1].
struct Quadrature {
    std::vector<double> points, weights;
    explicit Quadrature(int size);
};

}  // namespace bigbird::bins
