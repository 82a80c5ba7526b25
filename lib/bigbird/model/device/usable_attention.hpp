// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/attention.hpp"

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::model {

/// The backend that --attention names or, where the device is a GPU that its kernels do not serve, the
/// nearest one that does, which a warning says. Throws ConfigError for other names.
attention::Backend usable_attention(const std::string& name, const at::Device& device);

}  // namespace bigbird::model
