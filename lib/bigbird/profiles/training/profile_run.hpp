// SPDX-License-Identifier: Apache-2.0
// One training run of a profile network, in a run folder.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/profiles/data_set.hpp"
#include "bigbird/profiles/training/profile_task.hpp"

#include <filesystem>
#include <string>

namespace bigbird::profiles {

struct ProfileRun {
    std::string part{};  ///< "nobias", "bias", or "" for a model of one part
    networks::ProfileShape shape{};
    networks::ProfileNet bias{nullptr};  ///< frozen; null: none
    SplitRegions regions{};
    std::int64_t background_per_epoch = 0, jitter = 0;
    training::LoopSpec loop{};  ///< its schedule, optimizer, settings of the run and fixed options
    ProfileTaskSpec task{};     ///< count_weight is set from the regions
    std::filesystem::path folder{};
};

/// Trains, or goes on; the weights with the lowest loss on validation are kept. Throws what run_training()
/// does.
training::LoopResult train_network(ProfileRun run, const WindowSource& source);
/// Seconds of a training step: the median of some.
double seconds_per_step(ProfileRun run, const WindowSource& source);

/// The networks of a model folder, frozen: its first part, and the bias.
ProfilePair open_pair(const std::filesystem::path& folder);

/// `filters` and `layers` in a window of these lengths; log counts are of the positions that the profile
/// reads.
networks::ProfileShape shape_for(const WindowLengths& lengths, std::int64_t filters, std::int64_t layers);
/// Those positions.
std::int64_t counted_positions(const networks::ProfileShape& shape);
inline constexpr std::int64_t bias_layers = 4;

}  // namespace bigbird::profiles
