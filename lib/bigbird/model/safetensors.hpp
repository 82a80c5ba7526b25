// SPDX-License-Identifier: Apache-2.0
// Tensors in a safetensors file (safetensors_header.hpp has the form).
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace bigbird::model {

using TensorMap = std::map<std::string, at::Tensor>;

/// The type that a header names, such as F32; only for those that files have.
at::ScalarType tensor_type(const std::string& name);

/// Returns CPU tensors of the file's types. Throws InputError if the file is not a safetensors file, is
/// truncated, or its offsets or types make no sense.
TensorMap read_safetensors(const std::filesystem::path& path);

/// Writes atomically and syncs; replaces an existing file. Keys in byte order, metadata {"format": "pt"} plus
/// `metadata`. Any device. `finish`: what is written for a tensor, of its shape and type. Throws WriteError.
using Finish = std::function<at::Tensor(const at::Tensor&)>;
void write_safetensors(const TensorMap& tensors, const std::filesystem::path& path,
                       const std::map<std::string, std::string>& metadata = {}, const Finish& finish = {});

}  // namespace bigbird::model
