// SPDX-License-Identifier: Apache-2.0
// Gapped k-mers (Ghandi et al. 2014) in primal form: counts every choice of `informative` letters of every
// word of a window, on both strands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::baselines {

/// Counts of gapped k-mers. A gapped k-mer and its reverse complement are one feature, whose count is scaled
/// (by the root of 2 where the two differ), so that dot products equal those of counts on both strands. For
/// two windows this is the unfiltered gkm kernel: the sum of C(matches, informative) over all pairs of words,
/// one of each window, on either strand. With informative = word these are plain k-mers. Words with N are
/// left out. Immutable; thread-safe.
class GappedKmers {
public:
    /// Throws ConfigError if 1 <= informative <= word <= 12 does not hold or there are more than
    /// most_features gapped k-mers.
    GappedKmers(int word, int informative);

    /// Number of features, with both strands joined.
    std::size_t size() const { return size_; }
    /// Sets `out`, of size() elements, to the scaled counts of a window of base codes (base_codes.hpp).
    /// Returns the number of counted words, on one strand.
    std::int64_t count(std::span<const std::int32_t> bases, std::span<float> out) const;

    static constexpr std::size_t most_features = 4'000'000;  ///< before strands are joined

private:
    int word_, informative_;
    std::vector<std::vector<int>> masks_;  ///< informative positions of a word, ascending
    std::vector<std::int32_t> feature_;    ///< feature of mask * 4^informative + letters
    std::vector<bool> palindrome_;         ///< a feature that is its own reverse complement
    std::size_t size_ = 0;
};

}  // namespace bigbird::baselines
