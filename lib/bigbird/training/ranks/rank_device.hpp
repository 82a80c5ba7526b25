// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/training/ranks/rank_spec.hpp"

#include <string>

namespace bigbird::training {

/// --device for this rank (model::open_device): with several on a machine, "auto" and "cuda" take one GPU
/// each.
std::string device_of(const RankSpec& place, const std::string& device);

}  // namespace bigbird::training
