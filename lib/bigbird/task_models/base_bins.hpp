// SPDX-License-Identifier: Apache-2.0
// A model of bins that reads bases (bins/network.hpp) as a task model.
#pragma once

#include "bigbird/bins/network.hpp"
#include "bigbird/task_models/bin_network.hpp"
#include "bigbird/task_models/computing.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::task_models {

inline constexpr const char* bins_architecture = "bigbird-bins";

/// The network is on its device already.
std::shared_ptr<BinNetwork> base_bins(bins::BinsNetwork network, const Computing& computing);

/// What write() of one left, in evaluation mode on the device. Throws InputError where description and
/// weights do not fit.
std::shared_ptr<BinNetwork> load_base_bins(const std::filesystem::path& directory, const TaskInfo& info,
                                           std::int64_t labels, const at::Device& device,
                                           const Computing& computing);

}  // namespace bigbird::task_models
