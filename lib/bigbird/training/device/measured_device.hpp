// SPDX-License-Identifier: Apache-2.0
// Measures a device: memory in use and the speed of matrix products.
#pragma once

#include "bigbird/training/device/autocast.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::training {

/// Bytes: the most that this process has had on a CPU (resident), or that LibTorch has had allocated on a
/// GPU.
std::int64_t peak_memory(const at::Device& device);

/// Floating-point operations per second of one large matrix product on the device, the best of a few; takes a
/// tenth of a second. `mfu` is a share of this measured rate, not of the data sheet's.
double matrix_product_rate(ComputeType compute, const at::Device& device);

}  // namespace bigbird::training
