// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/attention.hpp"

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::model {

/// Returns the backend that --attention names or, with a warning, the nearest one that supports the given
/// GPU. Throws ConfigError for other names.
attention::Backend usable_attention(const std::string& name, const at::Device& device);

}  // namespace bigbird::model
