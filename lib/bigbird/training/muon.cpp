// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/muon.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace bigbird::training {

namespace {

constexpr double momentum_decay = 0.95;
constexpr int iterations = 5;
constexpr double a = 3.4445, b = -4.7750,
                 c = 2.0315;  // Jordan's coefficients: steep at 0, and near 1 after five iterations
constexpr double smallest_norm = 1e-7;
constexpr double rms_of_adamw = 0.2;  // Liu and others: of an update by AdamW, divided by its learning rate

/// An orthogonal matrix has elements of root mean square 1 / sqrt(the longer side).
double scale_of(const at::Tensor& matrix) {
    return rms_of_adamw * std::sqrt(static_cast<double>(std::max(matrix.size(0), matrix.size(1))));
}

}  // namespace

bool is_hidden_matrix(const std::string& name, const at::Tensor& parameter) {
    return parameter.dim() == 2 && name.find("encoder.layer.") != std::string::npos;
}

at::Tensor orthogonalised(const at::Tensor& matrix) {
    const bool tall = matrix.size(0) > matrix.size(1);
    at::Tensor x = tall ? matrix.t() : matrix;  // the products below are the shorter side's
    x = x / (at::linalg_matrix_norm(x) + smallest_norm);
    for (int i = 0; i < iterations; ++i) {
        const at::Tensor square = at::mm(x, x.t());
        x = at::addmm(x, at::addmm(square, square, square, b, c), x, a);
    }
    return tall ? x.t() : x;
}

void muon_update(at::Tensor& parameter, at::Tensor& momentum, const at::Tensor& gradient,
                 const MuonStep& step) {
    const at::Tensor clipped = step.divisor.defined() ? gradient / step.divisor : gradient;
    const at::Tensor next = momentum * momentum_decay + clipped;
    const at::Tensor ahead = clipped + next * momentum_decay;  // Nesterov's
    const at::ScalarType type = parameter.is_cpu() ? parameter.scalar_type() : at::kBFloat16;
    const at::Tensor update = orthogonalised(ahead.to(type)).to(parameter.scalar_type());
    const at::Tensor moved = at::add(parameter * (1 - step.learning_rate * step.weight_decay), update,
                                     -step.learning_rate * scale_of(parameter));
    momentum.copy_(at::where(step.broken, momentum, next));
    parameter.copy_(at::where(step.broken, parameter, moved));
}

}  // namespace bigbird::training
