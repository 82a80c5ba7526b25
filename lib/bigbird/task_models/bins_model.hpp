// SPDX-License-Identifier: Apache-2.0
// A model of bins as a task model: its folder, and its place among networks over windows.
#pragma once

#include "bigbird/bins/network.hpp"
#include "bigbird/task_models/task_model.hpp"
#include "bigbird/task_models/window_network.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::task_models {

inline constexpr const char* bins_architecture = "bigbird-bins";

/// Codes of windows of equal length, (windows, length) uint8, on the device.
at::Tensor window_codes(std::span<const std::string> sequences, const at::Device& device);

/// forward() in the computing type: (windows, window_bins, labels) float32 logits.
at::Tensor bin_logits(bins::BinsNetwork& network, const at::Tensor& codes, training::ComputeType type,
                      const model::DropoutKey& key = {});

/// config.json and model.safetensors into an existing folder. Throws WriteError.
void write_bins_model(const bins::BinsNetwork& network, const TaskInfo& info,
                      const std::filesystem::path& directory);

/// What write_bins_model left, in evaluation mode on the device. Throws InputError where description and
/// weights do not fit.
bins::BinsNetwork load_bins_network(const std::filesystem::path& directory, const TaskInfo& info,
                                    std::int64_t labels, const at::Device& device);

/// A model of bins that is read one window at a time: the logits of a window are those of its middle, the
/// mean over the bins that the `bin` middle bases lie in, weighted by these. What predict-variants scores
/// alleles by.
std::shared_ptr<WindowNetwork> bin_in_the_middle(bins::BinsNetwork network, const TaskInfo& info,
                                                 const Computing& computing, const at::Device& device);

}  // namespace bigbird::task_models
