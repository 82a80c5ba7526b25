// SPDX-License-Identifier: Apache-2.0
// Rotary positions (Su and others 2021): the product of a query and a key depends on their distance.
#pragma once

#include "bigbird/model/files/form.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::model {

/// Cosines and sines of the angles by which a position rotates each pair of features, (positions, head_dim /
/// 2) float32. The angle is position * theta^(-2 i / head_dim) for pair i, scaled by RopeScaling (head_dim
/// above 2 with ntk). Undefined: no rotation.
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(std::int64_t positions, std::int64_t head_dim, const at::Device& device,
                         const RotaryForm& form = {});

/// Rotates pair i, the features i and i + head_dim / 2, of each position. x: (batch, heads, positions,
/// head_dim); the result has its type. Uses the table's first positions, or a table for these positions,
/// (batch or 1, heads or 1, positions, head_dim / 2).
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

}  // namespace bigbird::model
