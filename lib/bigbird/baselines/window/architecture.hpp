// SPDX-License-Identifier: Apache-2.0
// The networks among the models that the paper's tables compare BigBird with.
#pragma once

#include "bigbird/baselines/names/architecture_names.hpp"
#include "bigbird/baselines/window/base_network.hpp"

#include <cstdint>
#include <string>

namespace bigbird::baselines {

/// A network for windows of `length` bases, its parameters drawn from `seed`; `name` is one that
/// is_network(). Throws ConfigError if the window is too short for its layers.
BaseNetwork make_network(const std::string& name, std::int64_t length, std::int64_t labels,
                         std::uint64_t seed);

}  // namespace bigbird::baselines
