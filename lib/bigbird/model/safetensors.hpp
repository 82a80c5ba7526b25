// SPDX-License-Identifier: Apache-2.0
// The safetensors format: 8-byte little-endian header length, JSON header, raw little-endian tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace bigbird::model {

using TensorMap = std::map<std::string, at::Tensor>;

/// Throws InputError where the file is no safetensors file, is cut short, or its offsets or types make no sense. CPU tensors.
TensorMap read_safetensors(const std::filesystem::path& path);

/// Keys in byte order, metadata {"format": "pt"} and what is given; syncs. Any device.
void write_safetensors(const TensorMap& tensors, const std::filesystem::path& path, const std::map<std::string, std::string>& metadata = {});

}  // namespace bigbird::model
