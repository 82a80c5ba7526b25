// SPDX-License-Identifier: Apache-2.0
// CNNProm (Umarov and Solovyev 2017): one convolution of 300 filters of 21 bases with ReLU, max-pooling over
// 231 places (all of them in its windows of 251 bases, -200:51), 128 hidden units with ReLU; its network for
// human non-TATA promoters.
#pragma once

#include "bigbird/baselines/window/base_network.hpp"

namespace bigbird::baselines {

BaseNetwork make_cnnprom(std::int64_t length, std::int64_t labels);

}  // namespace bigbird::baselines
