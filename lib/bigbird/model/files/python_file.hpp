// SPDX-License-Identifier: Apache-2.0
// A model folder opens in Python: transformers' AutoModel.from_pretrained(folder, trust_remote_code=True)
// reads the classes that auto_map of config.json names in the Python file beside it.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string_view>

namespace bigbird::model {

inline constexpr const char* python_file = "modeling_bigbird_dna.py";
/// The file's text: the part for all models, and an additional part for models that read bases.
std::string_view python_of_tokens();
std::string_view python_of_bases();

/// Writes config.json into an existing folder. If `config` has a model_type that transformers lacks, also
/// writes auto_map and the Python file. Replaces existing files. Throws WriteError.
void write_config(Json config, const std::filesystem::path& directory);

}  // namespace bigbird::model
