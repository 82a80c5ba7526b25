// SPDX-License-Identifier: Apache-2.0
// The motifs that a model of profiles learned, for train's report page.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// Motifs in the contributions of bases (input x gradient) to the log counts and to the profile of peaks, by
/// the model in `model`, with the bias removed: motifs::find_motifs(). Names are "counts" and "profile", ids
/// are unique. Throws as attribute().
std::vector<motifs::Motif> profile_motifs(const std::filesystem::path& model,
                                          std::span<const genome::Interval> peaks, const TrainSpec& spec);

/// A page section with the logos of those with the most sites, and the most similar `known` one.
std::string profile_motifs_html(std::span<const motifs::Motif> learned, std::size_t peaks,
                                std::span<const motifs::Motif> known);

}  // namespace bigbird::tasks
