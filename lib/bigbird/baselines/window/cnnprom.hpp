// SPDX-License-Identifier: Apache-2.0
// CNNProm (Umarov and Solovyev 2017): its network for human non-TATA promoters. One convolution of 300
// filters of 21 bases with ReLU, max-pooling over 231 positions (all of them in its windows of 251 bases,
// -200:51), 128 hidden units with ReLU.
#pragma once

#include "bigbird/baselines/window/base_network.hpp"

namespace bigbird::baselines {

BaseNetwork make_cnnprom(std::int64_t length, std::int64_t labels);

}  // namespace bigbird::baselines
