// SPDX-License-Identifier: Apache-2.0
// Describes a model directory, a tokenizer or a safetensors file, without loading a network.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string>

namespace bigbird::model {

/// Reads every number of a safetensors file, or of all those in a model folder. Throws InputError naming
/// every tensor with NaN or infinity (and how many), or if a file is damaged. Else returns {"numbers": their
/// count, "finite": true}.
Json check_weights(const std::filesystem::path& path);

/// Throws InputError if the path is missing, corrupt or of another kind. A model directory's description:
/// architecture, shape, parameters, attention, tokenizer, checksums, provenance; a tokenizer's: pieces and
/// lengths; a safetensors file's: its tensors.
Json describe(const std::filesystem::path& path);

/// A description for people: one "key value" per line, nested objects indented.
std::string description_text(const Json& description);

}  // namespace bigbird::model
