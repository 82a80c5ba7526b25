// SPDX-License-Identifier: Apache-2.0
// A window with one base changed, many times over: the stem is local, so that only a slice of it is computed
// again for each; the encoder, which mixes all positions, reads every changed window.
#pragma once

#include "bigbird/bins/network.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bigbird::bins {

/// Base `at` of a window becomes `code` (codes_of).
struct Substitution {
    std::int64_t at = 0;
    std::uint8_t code = 0;
    bool operator==(const Substitution&) const = default;
};

/// What the stem reads again for a substitution, in positions, by its widths and pools.
struct StemReach {
    std::vector<Stage> stages;
    std::int64_t changed = 0;  ///< positions that one base can change, at most
    std::int64_t halo = 0;     ///< positions on each side of one from which it is computed

    explicit StemReach(const BinsConfig& config);
    /// The first and last position that base `at` changes; may lie beyond the window's ends.
    std::pair<std::int64_t, std::int64_t> changed_by(std::int64_t at) const;
};

/// A window as it is, and with each of some substitutions. Not thread-safe.
class SubstitutedWindow {
public:
    /// `window`: (window_bases) uint8 codes on the network's device. The network is in evaluation mode.
    SubstitutedWindow(BinsNetwork network, const at::Tensor& window);
    /// BinsNetwork's features() of the window with each substitution on its own: (substitutions, window_bins,
    /// hidden + motif_filters). On a CPU a row's values depend on how many substitutions there are, by
    /// rounding, but not on what they are.
    at::Tensor features(std::span<const Substitution> each) const;

private:
    BinsNetwork network_;
    StemReach reach_;
    at::Tensor window_;
    StemOutput stem_;  ///< of the window, with a row of sites for each position
};

/// The same by whole windows: readable, slow.
at::Tensor substituted_features_reference(BinsNetwork network, const at::Tensor& window,
                                          std::span<const Substitution> each);

}  // namespace bigbird::bins
