// SPDX-License-Identifier: Apache-2.0
// DeePromoter (Oubounyt et al. 2019): three convolutions side by side, of 27, 14 and 7 bases, each with ReLU,
// max-pooling over 6 and dropout 0.5; a bidirectional LSTM of 32 units a direction over their joined
// channels; 128 hidden units with ReLU and dropout 0.5. Windows of 300 bases, -249:51. Of the number of
// filters, which is not at hand for certain, 32 each.
#pragma once

#include "bigbird/baselines/window/base_network.hpp"

namespace bigbird::baselines {

BaseNetwork make_deepromoter(std::int64_t length, std::int64_t labels);

}  // namespace bigbird::baselines
