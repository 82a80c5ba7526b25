// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/training/ranks/rank_spec.hpp"

#include <string>

namespace bigbird::training {

/// The value of --device for this rank (model::open_device): if a machine has several ranks, "auto" and
/// "cuda" give each its own GPU.
std::string device_of(const RankSpec& rank, const std::string& device);

}  // namespace bigbird::training
