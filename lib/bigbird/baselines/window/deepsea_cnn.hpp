// SPDX-License-Identifier: Apache-2.0
// DeepSEA's network (Zhou and Troyanskaya 2015): convolutions of 320, 480 and 960 filters of 8, each with
// ReLU, the first two followed by max-pooling over 4. Dropout is 0.2, 0.2 and 0.5; 925 hidden units have
// ReLU. Windows of 1,000 bases around the bin. Its L1 penalty and bounded norms are missing: the optimizer is
// this program's AdamW.
#pragma once

#include "bigbird/baselines/window/base_network.hpp"

namespace bigbird::baselines {

BaseNetwork make_deepsea(std::int64_t length, std::int64_t labels);

}  // namespace bigbird::baselines
