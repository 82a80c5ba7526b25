// SPDX-License-Identifier: Apache-2.0
// Names and lengths of contigs in JSON: [{"name": "22", "length": 51304566}, ...]. They are in manifests of
// examples and in config.json of task models.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/interval.hpp"

#include <span>
#include <vector>

namespace bigbird::examples {

Json contigs_json(std::span<const genome::Contig> contigs);

/// Throws Json::exception where a name or a length is missing or of another kind.
std::vector<genome::Contig> contigs_from(const Json& json);

}  // namespace bigbird::examples
