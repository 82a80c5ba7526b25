// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/rotary.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace bigbird::model {

namespace {

double base_of(const RotaryForm& form, std::int64_t head_dim) {
    if (form.scaling != RopeScaling::ntk) return form.theta;
    const auto size = static_cast<double>(head_dim);
    return form.theta * std::pow(form.factor, size / (size - 2));
}

}  // namespace

RotaryTable rotary_table(std::int64_t positions, std::int64_t head_dim, const at::Device& device,
                         const RotaryForm& form) {
    const auto options = at::TensorOptions().dtype(at::kDouble);
    const at::Tensor exponent =
        at::arange(0, head_dim, 2, options) / static_cast<double>(head_dim);  // (head_dim / 2)
    const double stretch = form.scaling == RopeScaling::linear ? form.factor : 1;
    const at::Tensor position = at::arange(positions, options) / stretch;
    const at::Tensor angle = position.unsqueeze(1) * at::pow(base_of(form, head_dim), -exponent).unsqueeze(0);
    return {angle.cos().to(device, at::kFloat), angle.sin().to(device, at::kFloat)};
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table) {
    const std::int64_t half = x.size(3) / 2, positions = x.size(2);
    const at::Tensor a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
    const auto angles = [&](const at::Tensor& of) {
        return (of.dim() == 2 ? of.narrow(0, 0, positions) : of).to(x.scalar_type());
    };
    const at::Tensor cosine = angles(table.cosine), sine = angles(table.sine);
    return at::cat({a * cosine - b * sine, b * cosine + a * sine}, 3);
}

}  // namespace bigbird::model
