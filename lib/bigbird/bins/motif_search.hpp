// SPDX-License-Identifier: Apache-2.0
// What find_motifs() consists of: words of 8 bases that are more frequent in a label's bins than in bins of
// the same GC content, and the best site of a motif in a bin.
#pragma once

#include "bigbird/bins/motifs.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bigbird::bins {

inline constexpr std::int64_t word_length = 8, letter_count = 4;

inline std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

struct SeedWord {
    double z = 0;  ///< deviations above what is expected
    std::int64_t label = 0;
    std::int32_t word = 0;  ///< two bits per base, the first highest; the smaller of both strands' words
};

/// `search.words` words of each label with at least `search.fewest_bins` bins, the most enriched first. The
/// expected frequencies come from the background.
std::vector<SeedWord> seed_words(const LabelledSequence& bins, const MotifSearch& search, int threads);

struct Site {
    float score = -std::numeric_limits<float>::infinity();
    std::int64_t begin = 0;
    bool reverse = false;
};

/// Sums a motif's odds over its positions, N as the mean of the four letters. Const calls are thread-safe.
class MotifScanner {
public:
    /// odds: (width, 4), letters in the order A C G T.
    MotifScanner(std::span<const float> odds, std::int64_t width);
    /// The best site; of equal ones the first, with this strand's sites before the other's. codes: 0 to 4, at
    /// least `width`.
    Site best(std::span<const std::uint8_t> codes) const;

private:
    /// The odds that a letter adds on each strand. As a pair of floats, both are loaded and added together.
    struct Both {
        float forward = 0, reverse = 0;
    };
    std::int64_t width_;
    std::vector<Both> odds_;  // (width, 5)
};

}  // namespace bigbird::bins
