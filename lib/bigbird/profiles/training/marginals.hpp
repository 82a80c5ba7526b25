// SPDX-License-Identifier: Apache-2.0
// Mean predictions about sequences that are put into background, as chrombpnet's marginal footprints.
#pragma once

#include "bigbird/networks/profiles/profile_network.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::profiles {

struct ProbeMotif {
    std::string_view name, sequence;
};
/// Sequences that Tn5 or DNase I cuts preferably: chrombpnet's lists.
std::span<const ProbeMotif> enzyme_motifs(bool dnase);
/// Consensus sequences of factors that open chromatin in mammals, and of yeast's general regulatory factors.
/// A bias model must know none.
std::span<const ProbeMotif> factor_motifs();

using ScoreCodes = std::function<networks::ProfileHeads(const at::Tensor& codes)>;

struct Marginal {
    std::vector<double> profile{};  ///< mean probabilities by base of the output; the motif is in the middle
    double log_count = 0;           ///< mean log count
    double most() const;            ///< the largest probability
};
/// Of the backgrounds (normalized sequence of the network's input) with `motif` in their middle; empty: as
/// they are. Profiles are the sum over both strands of probabilities times reads, divided by its sum.
Marginal marginal_of(const ScoreCodes& scores, std::span<const std::string> backgrounds,
                     std::string_view motif);
/// By how much a motif raises the mean log count above the mean of five shuffles of its letters.
double count_effect(const ScoreCodes& scores, std::span<const std::string> backgrounds,
                    std::string_view motif);

}  // namespace bigbird::profiles
