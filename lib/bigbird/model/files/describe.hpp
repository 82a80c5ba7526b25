// SPDX-License-Identifier: Apache-2.0
// What a model directory, a tokenizer or a safetensors file holds, without loading a network.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string>

namespace bigbird::model {

/// Throws InputError where the path is missing, corrupt or none of ours. A model directory's description:
/// architecture, shape, parameters, attention, tokenizer, checksums, provenance; a tokenizer's: pieces and
/// lengths; a safetensors file's: its tensors.
Json describe(const std::filesystem::path& path);

/// A description for people: one "key  value" a line, nested objects indented.
std::string description_text(const Json& description);

}  // namespace bigbird::model
