// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/windows/window_network.hpp"

#include <functional>
#include <span>

namespace bigbird::task_models {

/// Logits of windows, in their order: (windows, labels) float32 on the CPU. Runs the network in evaluation
/// mode, without gradients, in groups of at most `batch_tokens` ids, so that a window's logits do not depend
/// on the others. `after_batch` (may be empty) is told how many windows each group held. Throws Stopped
/// between groups where a signal came in.
at::Tensor batched_logits(WindowNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens,
                          const std::function<void(std::int64_t)>& after_batch = {});

}  // namespace bigbird::task_models
