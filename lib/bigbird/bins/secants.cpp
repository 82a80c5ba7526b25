// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/secants.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace bigbird::bins {

namespace {

/// Points of the guard; 0: there is none.
thread_local int line_points = 0;

/// The inputs and references of a batch, and f of both, all without gradients.
struct Halves {
    at::Tensor input, reference, of_input, of_reference;

    Halves(const at::Tensor& x, const BatchFunction& f)
        : input(x.narrow(0, 0, x.size(0) / 2).detach()),
          reference(x.narrow(0, x.size(0) / 2, x.size(0) / 2).detach()) {
        const at::NoGradGuard no_gradients;
        const at::Tensor y = f(x.detach());
        of_input = y.narrow(0, 0, input.size(0));
        of_reference = y.narrow(0, input.size(0), input.size(0));
    }
};

/// Returns 0, with a gradient of 1 with respect to the batch's inputs.
at::Tensor zero_of(const at::Tensor& x) {
    const at::Tensor input = x.narrow(0, 0, x.size(0) / 2);
    return input - input.detach();
}

}  // namespace

SecantGuard::SecantGuard(int size) : before_(std::exchange(line_points, size)) {}

SecantGuard::~SecantGuard() {
    line_points = before_;
}

bool takes_secants() {
    return line_points > 0;
}

at::Tensor elementwise(const at::Tensor& x, const BatchFunction& f, double near) {
    if (!takes_secants()) return f(x);
    const Halves given(x, f);
    const at::Tensor step = given.input - given.reference;
    at::Tensor slope;
    {
        const at::AutoGradMode gradients(true);
        const at::Tensor halfway = ((given.input + given.reference) / 2).requires_grad_();
        slope = torch::autograd::grad({f(halfway).sum()}, {halfway}).front();
    }
    const at::Tensor secant =
        at::where(step.abs() <= near, slope, (given.of_input - given.of_reference) / step);
    return at::cat({given.of_input + secant * zero_of(x), given.of_reference});
}

at::Tensor jointly(const at::Tensor& x, const BatchFunction& f) {
    if (!takes_secants()) return f(x);
    const Quadrature line(line_points);
    const Halves given(x, f);
    const at::Tensor zero = zero_of(x), step = given.input - given.reference;
    std::vector<at::Tensor> places;
    for (const double point : line.points)
        places.push_back(given.reference + point * step + zero);
    const std::vector<at::Tensor> found = f(at::cat(places)).chunk(line_points);
    at::Tensor sum = given.of_input;
    for (std::size_t i = 0; i < found.size(); ++i)
        sum = sum + line.weights[i] * (found[i] - found[i].detach());
    return at::cat({sum, given.of_reference});
}

at::Tensor largest(const at::Tensor& x, std::int64_t dim) {
    if (!takes_secants()) return x.amax(dim);
    const Halves given(x, [&](const at::Tensor& all) { return all.amax(dim); });
    const at::Tensor rise = (given.of_input - given.of_reference).unsqueeze(dim);
    const at::Tensor index =
        at::where(rise.ge(0), given.input.argmax(dim, true), given.reference.argmax(dim, true));
    const at::Tensor step = (given.input - given.reference).gather(dim, index);
    const at::Tensor slope = at::where(step.eq(0), at::ones_like(step), rise / step);
    return at::cat(
        {given.of_input + (slope * zero_of(x).gather(dim, index)).squeeze(dim), given.of_reference});
}

Quadrature::Quadrature(int size) {
    for (int i = 0; i < size; ++i) {
        double root = std::cos(std::numbers::pi * (i + 0.75) / (size + 0.5)), slope = 1;
        for (int step = 0; step < 20; ++step) {  // Newton's method; the polynomial by its recurrence
            double before = 1, value = root;
            for (int degree = 2; degree <= size; ++degree) {
                const double next = ((2 * degree - 1) * root * value - (degree - 1) * before) / degree;
                before = value;
                value = next;
            }
            slope = size * (root * value - before) / (root * root - 1);
            root -= value / slope;
        }
        points.push_back((1 - root) / 2);
        weights.push_back(1 / ((1 - root * root) * slope * slope));
    }
}

}  // namespace bigbird::bins
