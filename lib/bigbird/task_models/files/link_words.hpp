// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/task_models/files/task_files.hpp"

namespace bigbird::task_models {

/// A task model's "link" in config.json.
inline constexpr Choices<LinkFunction, 5> link_words{{{LinkFunction::logistic, "logistic"},
                                                      {LinkFunction::softmax, "softmax"},
                                                      {LinkFunction::identity, "identity"},
                                                      {LinkFunction::exponential, "exponential"},
                                                      {LinkFunction::softplus, "softplus"}}};

}  // namespace bigbird::task_models
