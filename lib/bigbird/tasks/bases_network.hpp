// SPDX-License-Identifier: Apache-2.0
// Networks that read bases: bigbird-bins (bins/network.hpp) and the paper's baselines (bigbird/baselines).
#pragma once

#include "bigbird/baselines/window/gapped_kmers.hpp"
#include "bigbird/bins/network.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/task_network.hpp"

#include <filesystem>
#include <memory>

namespace bigbird::tasks {

/// The network is on its device already.
std::shared_ptr<BinNetwork> base_bins(bins::BinsNetwork network, const ComputeOptions& computing);

/// A convolutional baseline for the windows of `info`, with parameters drawn from `seed`. Throws ConfigError
/// if the window is too short for it.
std::shared_ptr<TaskNetwork> new_base_network(const TaskInfo& info, std::int64_t labels, std::uint64_t seed,
                                              const at::Device& device);

/// How a linear model of windows counts: its TaskInfo::network.
struct KmerSpec {
    int word = 5, informative = 5;
    bool unit_length = false;  ///< each window's features scaled to length 1 (the normalized gkm kernel);
                               ///< else divided by the number of its words
};
Json to_json(const KmerSpec& spec);
/// Writes the features of a window of base codes, scaled by spec, into `out`, of kmers.size() elements.
void kmer_features(const baselines::GappedKmers& kmers, const KmerSpec& spec,
                   std::span<const std::int32_t> bases, std::span<float> out);

/// A linear baseline: logit = features * weight + bias. weight: (labels, features), bias: (labels), any
/// floating type.
std::shared_ptr<TaskNetwork> linear_network(const TaskInfo& info, const at::Tensor& weight,
                                            const at::Tensor& bias, const at::Device& device);

/// Loads a network that TaskNetwork::write() wrote, in evaluation mode on the device. Throws InputError if
/// description and weights contradict each other.
std::shared_ptr<TaskNetwork> load_bases_network(const std::filesystem::path& directory, const TaskInfo& info,
                                                std::int64_t labels, const at::Device& device,
                                                const ComputeOptions& computing);

}  // namespace bigbird::tasks
