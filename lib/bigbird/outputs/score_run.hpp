// SPDX-License-Identifier: Apache-2.0
// The settings that all parts of a score file have in common, as stored in their records (core/parts).
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/table_schema.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::outputs {

struct ScoreRun {
    TableSchema schema;
    std::vector<std::pair<std::string, std::string>> inputs{};  ///< role and SHA-256 of files of rows
    std::optional<double> min_score{};                          ///< for a long table
    std::vector<genome::Contig> contigs{};                      ///< for a track
    Overlap overlap = Overlap::mean;                            ///< for a track
};

Json to_json(const ScoreRun& run);
/// Throws InputError naming `where`.
ScoreRun score_run_from_json(const Json& json, const std::filesystem::path& where);

}  // namespace bigbird::outputs
