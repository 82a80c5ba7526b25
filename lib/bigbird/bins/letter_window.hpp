// SPDX-License-Identifier: Apache-2.0
// A window in which some bases are given as numbers, for gradients with respect to them. Only the bins around
// these bases are computed with gradients; the fast kernels compute the rest of the stem's output once.
#pragma once

#include "bigbird/bins/network.hpp"

#include <cstdint>

namespace bigbird::bins {

/// Not thread-safe.
class LetterWindow {
public:
    /// `window`: (window_bases) uint8 codes on the network's device; its bases [begin, end) will be given.
    /// The network is in evaluation mode.
    LetterWindow(BinsNetwork network, const at::Tensor& window, std::int64_t begin, std::int64_t end);
    /// letters: (batch, end - begin, 4) float32. Returns (batch, window_bins, labels) logits, with gradients
    /// with respect to letters; with secants (secants.hpp) under a SecantGuard.
    at::Tensor logits(const at::Tensor& letters) const;
    /// Bases that the stem reads for each sample.
    std::int64_t stem_bases() const { return slice_.size(0); }

private:
    BinsNetwork network_;
    std::int64_t first_ = 0, count_ = 0;  ///< bins that the bases can change in the stem
    std::int64_t before_ = 0;             ///< bins in front of them that are computed with them
    std::int64_t offset_, length_;        ///< the given bases' range in the slice
    at::Tensor slice_;  ///< (bases, 4) of the bins that are computed; all with a profile head
    StemOutput stem_;   ///< output of the unchanged window; empty with a profile head
};

}  // namespace bigbird::bins
