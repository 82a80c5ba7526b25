// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/bin_network.hpp"
#include "bigbird/task_models/task_model.hpp"
#include "bigbird/task_models/windows/window_network.hpp"

#include <memory>

namespace bigbird::task_models {

/// A model of bins that is read one window at a time: the logits of a window are those of its middle, the
/// mean over the bins that the `bin` middle bases lie in, weighted by these. What predict-variants scores
/// alleles by.
std::shared_ptr<WindowNetwork> bin_in_the_middle(std::shared_ptr<BinNetwork> network, const TaskInfo& info);

}  // namespace bigbird::task_models
