// SPDX-License-Identifier: Apache-2.0
// Which files of a model folder hold its tensors: model.safetensors, pytorch_model.bin, or the parts that
// their indices name. Nothing in them is executed.
#pragma once

#include "bigbird/model/files/published.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::model {

/// File names, sorted. Of an adapter (adapter.hpp) its own file. Without any of these files, that of
/// model.safetensors. Throws InputError if an index is
/// damaged.
std::vector<std::string> weight_files(const std::filesystem::path& directory);
/// Whether a file is pytorch_model.bin or a part of it.
bool is_torch_file(const std::filesystem::path& file);
/// The first of a folder's files, for messages.
std::filesystem::path weight_file(const std::filesystem::path& directory);

/// Today's name of a tensor: without prefixes of wrappers (DataParallel's "module.", torch.compile's
/// "_orig_mod."), and with weight and bias for a LayerNorm's gamma and beta.
std::string present_name(std::string name);

/// Names (present_name) and shapes of a folder's tensors, without reading the tensors. Throws InputError.
WeightShapes weight_shapes(const std::filesystem::path& directory);
/// SHA-256 of the file; for a model in parts, of the lines "SHA-256 part" in order of name.
std::string weights_checksum(const std::filesystem::path& directory);

}  // namespace bigbird::model
