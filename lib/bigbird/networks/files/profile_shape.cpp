// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <numeric>

namespace bigbird::networks {

std::int64_t ProfileShape::columns() const {
    return std::accumulate(groups.begin(), groups.end(), std::int64_t{0});
}

std::int64_t ProfileShape::trunk_positions(std::int64_t after_layers) const {
    if (pads()) return input;
    std::int64_t positions = input - stem + 1;
    for (std::int64_t layer = 0; layer < after_layers; ++layer)
        positions -= 2 * dilation(layer);
    return positions;
}

void ProfileShape::validate() const {
    const std::int64_t trunk = trunk_positions(layers), profile = pads() ? input : trunk - head + 1;
    if (output < 1 || output > profile || (profile - output) % 2 != 0 || counts < 1 || counts > trunk ||
        (trunk - counts) % 2 != 0)
        throw ConfigError("the network's ranges do not fit into each other.");
}

}  // namespace bigbird::networks
