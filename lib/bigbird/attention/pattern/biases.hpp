// SPDX-License-Identifier: Apache-2.0
// What is added to scores, by every backend alike.
#pragma once

namespace bigbird::attention {

/// Added to the score of a padded key, as in transformers: finite, so that a row of nothing but padding gives
/// no NaN.
inline constexpr double padding_bias = -1e4;

/// Stands for "not attended" in biases: exp() of it is 0 in every floating type after the row's maximum is
/// taken off, and no NaN can come of it.
inline constexpr double masked_bias = -3e4;

}  // namespace bigbird::attention
