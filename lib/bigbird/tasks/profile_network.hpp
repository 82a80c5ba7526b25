// SPDX-License-Identifier: Apache-2.0
// Published networks of base-resolution profiles (networks/profiles) as task networks. A window has one row
// of logits: the log counts of each group. Its profile is asked for separately.
#pragma once

#include "bigbird/networks/profiles/profile_network.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/task_network.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

class ProfileNetwork : public TaskNetwork {
public:
    virtual const networks::ProfileShape& shape() const = 0;
    virtual networks::ProfileNet net() const = 0;
    /// Both heads of windows[group[0]], …, on the strand that was encoded.
    virtual networks::ProfileHeads heads(std::span<const EncodedWindow> windows,
                                         std::span<const std::size_t> group) const = 0;
    /// Both heads of windows of normalized sequence, of each followed by those of `each[window]`, applied by
    /// themselves (networks::ProfileNetImpl::scores). Substitutions, profiles and columns are those of the
    /// windows' own strand, whichever is read.
    virtual networks::ProfileHeads heads(std::span<const std::string> windows,
                                         std::span<const std::vector<bins::Substitution>> each,
                                         bool reverse) const = 0;
    /// Without substitutions.
    networks::ProfileHeads heads(std::span<const std::string> windows, bool reverse) const {
        return heads(windows, std::vector<std::vector<bins::Substitution>>(windows.size()), reverse);
    }
};

/// Heads of reverse complements, on the windows' own strand: positions back to front, columns of a group
/// swapped.
networks::ProfileHeads on_other_strand(const networks::ProfileHeads& heads,
                                       const networks::ProfileShape& shape);
/// Probabilities of the profile of one group, (windows, output, columns of the group) float64 on the CPU: a
/// softmax over all its positions and columns.
at::Tensor profile_probabilities(const at::Tensor& logits, const networks::ProfileShape& shape,
                                 std::size_t group);

/// Names of the columns (strands) of one group in tables and tracks, of `columns` in all: "counts",
/// "counts_plus" and "counts_minus", or "counts_1" and so on.
std::vector<std::string> profile_column_names(const std::string& label, std::int64_t columns);

/// The network of a model that gives profiles; null for other models.
std::shared_ptr<ProfileNetwork> profile_network(const ModelFolder& model);
/// The models' networks. Throws ConfigError unless all give profiles, with equal shapes of output and groups.
std::vector<std::shared_ptr<ProfileNetwork>> profile_networks(std::span<const ModelFolder> models);

/// The description of a published model's file, as if fine-tuning had written it.
TaskInfo profile_info(const networks::ProfileModel& model);
/// "nobias", "bias" or "joined" of an opened ChromBPNet model; nullopt for other models.
std::optional<std::string> component_of(const TaskInfo& info);
/// A model file, opened (networks::read_profile_model). Throws InputError, ConfigError.
ModelFolder open_profile_file(const std::filesystem::path& path, std::optional<networks::Component> component,
                              const at::Device& device);
/// Loads a folder that TaskNetwork::write() wrote, and writes the component into info.network.
std::shared_ptr<ProfileNetwork> load_profile_network(const std::filesystem::path& directory, TaskInfo& info,
                                                     std::optional<networks::Component> component,
                                                     const at::Device& device);

}  // namespace bigbird::tasks
