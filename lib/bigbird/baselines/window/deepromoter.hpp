// SPDX-License-Identifier: Apache-2.0
// DeePromoter (Oubounyt et al. 2019): three parallel convolutions of 27, 14 and 7 bases, each with ReLU,
// max-pooling over 6 and dropout 0.5. Then a bidirectional LSTM of 32 units per direction over their joined
// channels, and 128 hidden units with ReLU and dropout 0.5. Windows of 300 bases, -249:51. The number of
// filters is not known for certain; 32 each are used.
#pragma once

#include "bigbird/baselines/window/base_network.hpp"

namespace bigbird::baselines {

BaseNetwork make_deepromoter(std::int64_t length, std::int64_t labels);

}  // namespace bigbird::baselines
