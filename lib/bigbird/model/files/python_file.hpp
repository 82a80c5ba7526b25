// SPDX-License-Identifier: Apache-2.0
// A model folder opens in Python: transformers' AutoModel.from_pretrained(folder, trust_remote_code=True)
// reads the classes that auto_map of config.json names in the Python file beside it.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string_view>

namespace bigbird::model {

inline constexpr const char* python_file = "modeling_bigbird_dna.py";
/// Its text: what all models have, and what follows it where a model reads bases.
std::string_view python_of_tokens();
std::string_view python_of_bases();

/// Writes config.json into an existing folder and, where `config` has a model_type that transformers lacks,
/// auto_map and the Python file. Replaces what is there. Throws WriteError.
void write_config(Json config, const std::filesystem::path& directory);

}  // namespace bigbird::model
