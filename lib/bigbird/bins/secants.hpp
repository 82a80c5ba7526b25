// SPDX-License-Identifier: Apache-2.0
// DeepLIFT's multipliers (Shrikumar and others 2017) through the gradients of the network as it is: what is
// not linear has, instead of its slope at the input, the slope of the line from a reference to the input.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace bigbird::bins {

/// While one lives, networks that this thread runs take batches of inputs followed by as many references.
/// Gradients of an input's outputs are then multipliers: their products with input - reference sum to the
/// difference of the outputs. References have no gradients.
/// `points`: of the line on which jointly() takes mean slopes.
class SecantGuard {
public:
    explicit SecantGuard(int points = 8);
    ~SecantGuard();
    SecantGuard(const SecantGuard&) = delete;
    SecantGuard& operator=(const SecantGuard&) = delete;

private:
    int before_;
};

/// Whether a SecantGuard lives on this thread.
bool takes_secants();

/// A function of a batch, (batch, …) -> (batch, …), each sample on its own.
using BatchFunction = std::function<at::Tensor(const at::Tensor&)>;

/// f(x), f a function of each element; with secants by DeepLIFT's rescale rule, which is exact up to
/// rounding.
at::Tensor elementwise(const at::Tensor& x, const BatchFunction& f);

/// f(x), f a function of a sample's elements together; with secants the mean slope over the straight line
/// from reference to input, by the guard's points of Gauss and Legendre's quadrature: exact only as far as
/// these follow the line, which is bent where a norm's input comes near to no variance (no letters).
at::Tensor jointly(const at::Tensor& x, const BatchFunction& f);

/// The maximum over a dimension; with secants by DeepLIFT's rule: the difference goes to the place of the
/// larger of both maxima, which is exact.
at::Tensor largest(const at::Tensor& x, std::int64_t dim);

/// Points and weights of Gauss and Legendre's quadrature on [0, 1].
struct Quadrature {
    std::vector<double> points, weights;
    explicit Quadrature(int size);
};

}  // namespace bigbird::bins
