// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/pattern.hpp"

#include <string>

namespace bigbird::attention {

/// A layout as text, a row of letters a query block: '#' attended because global (its row or its column), 'o'
/// the window, '*' random, a digit a block that counts so many times (9: nine or more), '.' not attended.
std::string picture(const PatternSpec& spec, const BlockLayout& layout);

/// What a layout computes: block pairs, keys a query attends on average, and the share of full attention.
struct LayoutCost {
    std::int64_t blocks = 0, pairs = 0;
    double keys_per_query = 0, share_of_full = 0;
};
LayoutCost cost_of(const PatternSpec& spec, const BlockLayout& layout);

}  // namespace bigbird::attention
