// SPDX-License-Identifier: Apache-2.0
// A window with one base changed, many times over. The stem is local, so that little of it is recomputed
// (substituted_stem.hpp). The encoder mixes all positions, but its first layer already has most queries, keys
// and values, and its last one is computed only for the chosen bins.
#pragma once

#include "bigbird/bins/network.hpp"
#include "bigbird/bins/substituted_stem.hpp"

#include <ATen/core/Tensor.h>

#include <span>

namespace bigbird::bins {

/// A window, unchanged and with single substitutions. Not thread-safe.
class SubstitutedWindow {
public:
    /// `window`: (window_bases) uint8 codes on the network's device. The network is in evaluation mode.
    SubstitutedWindow(BinsNetwork network, const at::Tensor& window);
    /// BinsNetwork's features() of the unchanged window, bit-identical: (1, window_bins, hidden +
    /// motif_filters).
    at::Tensor features() const;
    /// Features after each single substitution, at its chosen bins, (substitutions, bins) int64 on the CPU:
    /// (substitutions, bins, hidden + motif_filters). They are computed in groups of fixed size, so that a
    /// row does not depend on the others.
    at::Tensor features(std::span<const Substitution> each, const at::Tensor& bins) const;

    /// Features of another window, (window_bases) codes on the device, for example one with a deleted base:
    /// (1, window_bins, hidden + motif_filters).
    at::Tensor edited_features(const at::Tensor& window) const;

private:
    BinsNetwork network_;
    SubstitutedStem stem_;
    StemOutput whole_;
    Projections projections_;
};

/// The same by complete windows: readable, slow.
at::Tensor substituted_features_reference(BinsNetwork network, const at::Tensor& window,
                                          std::span<const Substitution> each, const at::Tensor& bins);

}  // namespace bigbird::bins
