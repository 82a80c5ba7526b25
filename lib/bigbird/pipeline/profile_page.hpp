// SPDX-License-Identifier: Apache-2.0
// What train's profile models are worth on the test split, and the report page of it.
#pragma once

#include "bigbird/profiles/data_set.hpp"
#include "bigbird/profiles/training/bias.hpp"
#include "bigbird/profiles/training/predictions.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::tasks {

/// A motif's marginal profile by each part of a model.
struct PartMarginals {
    profiles::ProbeMotif motif{};
    profiles::Marginal corrected{}, joined{}, bias{};  ///< `bias` is empty without a bias
};

struct ProfileJudgement {
    std::vector<std::pair<std::string, profiles::ProfileFigures>> peaks{}, background{};  ///< by part
    std::vector<PartMarginals> marginals{};  ///< the enzyme's motifs
    std::vector<profiles::Region> shown{};   ///< three test peaks with the most reads
    double uniform = 0;                      ///< 1 / output
};

/// Figures of the parts (joined, corrected, bias) and of floors (mean profile, and a table of hexamers) on
/// test, of both strands.
ProfileJudgement judge_profiles(const profiles::ProfilePair& pair, const profiles::WindowSource& source,
                                const profiles::SplitRegions& regions, bool dnase);
Json to_json(const ProfileJudgement& judged);
/// Lines for people.
std::vector<std::string> summary_of(const ProfileJudgement& judged);

/// Sections of the page: figures, counts, marginals, the sweep of the bias, three held-out peaks.
std::string profile_sections(const ProfileJudgement& judged, const profiles::ProfilePair& pair,
                             const profiles::WindowSource& source, const genome::ReferenceGenome& reference,
                             const Json& sweep);

}  // namespace bigbird::tasks
