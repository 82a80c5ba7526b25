// SPDX-License-Identifier: Apache-2.0
// A published network as a model folder of ours, and its description for people.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::networks {

/// The model_type in config.json of such a folder, and its entry in bigbird_dna.task_model.
inline constexpr const char *profile_model_type = "bigbird_dna_profile", *profile_architecture = "bpnet";

/// Labels of the log counts: "counts", or "counts_1", "counts_2", … of several groups.
std::vector<std::string> profile_labels(std::size_t groups);

/// config.json of a model folder.
Json folder_description(const ProfileModel& model);
/// The model that an entry bigbird_dna.task_model describes, without weights. Throws InputError naming
/// `where`.
ProfileModel profile_model_from(const Json& task_model, const std::filesystem::path& where);
/// Writes config.json, model.safetensors and labels.tsv into a folder that is there (PendingOutput). Throws
/// WriteError.
void write_profile_folder(const ProfileModel& model, const std::filesystem::path& directory);

/// Family, parts, lengths, parameters, what the numbers mean and whether they hold the enzyme's bias. Without
/// weights, parameters are left out.
Json describe(const ProfileModel& model);

}  // namespace bigbird::networks
