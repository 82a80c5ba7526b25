// SPDX-License-Identifier: Apache-2.0
// Models of the enzyme's bias: which regions they learn from, how they are judged, k-mer tables as networks,
// and the scaling of log counts to a sample.
#pragma once

#include "bigbird/profiles/kmer_bias.hpp"
#include "bigbird/profiles/training/marginals.hpp"
#include "bigbird/profiles/training/predictions.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::profiles {

/// Background with fewer read ends than `factor` times the peaks' 1 % quantile (chrombpnet's -b), and with
/// some.
std::vector<Region> quiet_regions(const WindowSource& source, std::span<const Region> background,
                                  std::span<const Region> peaks, double factor);

/// Figures of a bias model that was trained below one threshold.
struct BiasTrial {
    double factor = 0;
    std::int64_t regions = 0;       ///< to train on
    double pearson_background = 0;  ///< of log counts: above 0
    double pearson_peaks = 0;       ///< above -0.3
    double profile_jsd = 0;         ///< of validation background, weighted by read ends
    double profile_jsd_flat = 0;    ///< that of a uniform profile
    double enzyme = 0;              ///< largest marginal of the enzyme's motifs times the output
    double factor_effect = 0;       ///< largest effect of a factor's motif on log counts
    std::string factor_name{};      ///< this factor

    /// Whether nothing speaks against it: counts of background are predicted, no factor is known.
    bool is_sound() const;
};
Json to_json(const BiasTrial& trial);
/// The index of the trial to take: among sound ones, or else all, the one whose profiles fit the background
/// best; of unsound ones the one that knows the factors least.
std::size_t best_trial(std::span<const BiasTrial> trials);

struct JudgedRegions {
    std::span<const Region> peaks{}, background{};  ///< of validation
    std::span<const std::string> dna{};             ///< backgrounds for marginals
    bool dnase = false;
};
/// All figures but `factor` and `regions`.
BiasTrial judge_bias(const networks::ProfileNet& bias, const WindowSource& source,
                     const JudgedRegions& regions);

/// A table as a network: a filter for each k-mer, whose weight in the profile is its log odds.
networks::ProfileNet kmer_network(const KmerBias& table, std::int64_t input, std::int64_t output);
/// The table of the background's read ends.
KmerBias count_kmers(int k, const WindowSource& source, std::span<const Region> background);

/// Adds to the network's log counts the mean of observed minus predicted ones over regions. Returns it.
double scale_counts(const networks::ProfileNet& bias, const WindowSource& source,
                    std::span<const Region> regions);

/// At most `most` sequences of regions, evenly chosen.
std::vector<std::string> sequences_of(const WindowSource& source, std::span<const Region> regions,
                                      std::size_t most);

}  // namespace bigbird::profiles
