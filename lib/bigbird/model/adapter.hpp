// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters (LoRA) of a classifier's encoder: trained beside frozen weights, written in the format of
// PEFT and merged into the weights.
#pragma once

#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/safetensors.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bigbird::model {

/// Adds adapters to all linear layers of the encoder's layers, and freezes the encoder's other parameters; a
/// pooler that the head reads is trained, too. A is uniform in +-1 / sqrt(inputs), as in PEFT, from `seed`; B
/// is 0, so that nothing changes yet. Throws ConfigError if the rank is above a layer's features.
void add_adapters(SequenceClassifierImpl& network, const LoraForm& form, std::uint64_t seed);
/// Whether a network has adapters.
bool has_adapters(const torch::nn::Module& network);

/// parameters_of() without adapters. Weights are the unmerged ones; merging() makes the others.
TensorMap parameters_without_adapters(const torch::nn::Module& network);
/// For a tensor of parameters_without_adapters(), a weight with its adapter merged, or the tensor itself. One
/// at a time, so that weights are not in memory twice. Valid as long as the network is.
Finish merging(const torch::nn::Module& network);
/// What is trained beside frozen weights, by name: adapters, the head and the pooler.
TensorMap adapted_parameters(const torch::nn::Module& network);
/// A copy of a network. With adapters, it shares the frozen weights.
SequenceClassifier copy_of(const SequenceClassifierImpl& network);

/// Writes adapter_config.json and adapter_model.safetensors, which peft reads: adapters under the names of
/// the encoder's family, the head and a trained pooler completely. `base`: base_model_name_or_path. Throws
/// WriteError.
void write_adapters(const SequenceClassifierImpl& network, const LoraForm& form, const std::string& base,
                    const std::filesystem::path& directory);

/// The folder of an adapter's base model, which adapter_config.json names: an absolute path, or one relative
/// to the adapter's folder or the working directory; `directory` itself if it holds no adapter. Throws
/// InputError if it is not a folder here.
std::filesystem::path base_of_adapter(const std::filesystem::path& directory);
/// Merges the adapter of a folder into the weights of its base, under this program's names. Its head is taken
/// over. Throws InputError for adapters of other kinds (DoRA, changed biases, trained tokens), naming the
/// key, and for tensors that fit no weight.
TensorMap with_adapter(TensorMap base, const std::filesystem::path& directory);

}  // namespace bigbird::model
