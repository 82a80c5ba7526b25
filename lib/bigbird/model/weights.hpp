// SPDX-License-Identifier: Apache-2.0
// Converts parameters to and from tensors by their Hugging Face keys.
#pragma once

#include "bigbird/model/files/weight_files.hpp"
#include "bigbird/model/safetensors.hpp"

#include <torch/nn/module.h>

#include <filesystem>
#include <string>

namespace bigbird::model {

/// All tensors of a model directory (weight_files()). Names become today's (present_name), and those of a
/// Longformer and of encoders that others published BigBird's (longformer.hpp, published.hpp). Throws
/// InputError.
TensorMap read_weights(const std::filesystem::path& directory);

/// What may be missing or ignored when a network is filled.
struct LoadRules {
    std::string optional_prefix;     ///< parameters that may be missing; they stay as they are
    std::string only_prefix;         ///< fill only these parameters, and ignore other tensors
    std::string also_optional = {};  ///< also optional, but missing ones do not change the result
    std::string family = {};         ///< whose names messages use (published.hpp)
};

/// Fills the module's parameters, whatever their type and device. Accepts variants of Hugging Face files: a
/// bare BigBirdModel without "bert.", the tied decoder, position_ids, and heads of other tasks, which a
/// warning names. If the module has more positions than the file, the file's are repeated, with a warning.
/// Returns whether all optional parameters were there. Throws InputError naming every key that is missing,
/// unexpected or of another shape (with both shapes); `where` names the file in the message. The module is
/// unspecified after an error.
bool fill_parameters(torch::nn::Module& module, TensorMap tensors, const LoadRules& rules,
                     const std::filesystem::path& where);

/// Copies to a module with the same parameters, on any device.
void copy_parameters(torch::nn::Module& to, const torch::nn::Module& from);

/// The module's parameters, detached, on their devices.
TensorMap parameters_of(const torch::nn::Module& module);
/// The same tensors under transformers' names.
TensorMap named_for_file(TensorMap parameters);

}  // namespace bigbird::model
