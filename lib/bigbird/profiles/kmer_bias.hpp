// SPDX-License-Identifier: Apache-2.0
// The enzyme's preference as a table of k-mers about the cut site: the floor that a bias model must beat.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::profiles {

/// ln of how much more often a k-mer is cut than the mean k-mer of the background. The k-mer of base p covers
/// [p - k / 2, p - k / 2 + k). Not thread-safe while windows are added.
class KmerBias {
public:
    static constexpr int most_bases = 6;

    /// Throws ConfigError unless 1 <= k <= most_bases.
    explicit KmerBias(int k);

    /// Adds a window of background: its normalized sequence, and the read ends of the bases in its middle.
    void add(std::string_view dna, std::span<const float> counts);
    /// By k-mer in the order A C G T of its letters, the first letter first. Each k-mer has a prior of one
    /// read end at the mean rate, so that one that does not occur has 0.
    std::vector<float> log_odds() const;
    /// The logits of the bases in the window's middle, 0 where the k-mer has an N or leaves the window.
    static void logits(std::span<const float> log_odds, std::string_view dna, std::span<float> logits);

    int bases() const { return k_; }

private:
    int k_;
    std::vector<double> sites_, occurrences_;
};

}  // namespace bigbird::profiles
