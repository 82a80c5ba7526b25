// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/layer_layout.hpp"
#include "bigbird/attention/pattern/pattern.hpp"

#include <utility>
#include <vector>

namespace bigbird::testing {

/// The layouts of a pattern for all heads of layer 1.
inline attention::LayerLayout stacked_layout(const attention::PatternSpec& spec, int blocks, int heads) {
    std::vector<attention::BlockLayout> layouts;
    for (int head = 0; head < heads; ++head) {
        layouts.push_back(attention::make_layout(spec, blocks, 1, head));
    }
    return attention::stack_layouts(std::move(layouts), spec.block_size, at::kCPU);
}

}  // namespace bigbird::testing
