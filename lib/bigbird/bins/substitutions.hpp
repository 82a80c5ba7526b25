// SPDX-License-Identifier: Apache-2.0
// A window with one base changed, many times over. The stem's stages are local: each recomputes only the
// outputs that the changed base reaches, from a slice of the previous stage's output. The encoder mixes all
// positions, but its first layer already has most queries, keys and values, and its last one is computed only
// for the chosen bins.
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

/// The range of a stage's outputs that a substitution changes.
struct StageReach {
    std::int64_t width = 1, pool = 1;
    std::int64_t length = 0;   ///< outputs of a window
    std::int64_t changed = 0;  ///< maximum number of outputs that one base changes
};
std::vector<StageReach> stage_reaches(const BinsConfig& config);
/// The first and last output of each stage that base `at` changes; may be beyond the window's ends.
std::vector<std::pair<std::int64_t, std::int64_t>> changed_by(std::span<const StageReach> stages,
                                                              std::int64_t at);

/// A window, unchanged and with single substitutions. Not thread-safe. A substitution's values do not depend
/// on the other substitutions of the call.
class SubstitutedWindow {
public:
    /// `window`: (window_bases) uint8 codes on the network's device. The network is in evaluation mode.
    SubstitutedWindow(BinsNetwork network, const at::Tensor& window);
    /// BinsNetwork's features() of the unchanged window, bit-identical: (1, window_bins, hidden +
    /// motif_filters).
    at::Tensor features() const;
    /// Features after each single substitution, at its chosen bins, (substitutions, bins) int64 on the CPU:
    /// (substitutions, bins, hidden + motif_filters). Products are computed for each row by itself on a CPU,
    /// elsewhere in groups of one size, so that a row does not depend on the others.
    at::Tensor features(std::span<const Substitution> each, const at::Tensor& bins) const;

    /// Features of another window, (window_bases) codes on the device, for example one with a deleted base:
    /// (1, window_bins, hidden + motif_filters). The stem is computed from the first base that differs to the
    /// last one.
    at::Tensor edited_features(const at::Tensor& window) const;

private:
    struct Rows;

    StemOutput output_of(const at::Tensor& x, const at::Tensor& sites) const;
    Rows first_rows(std::span<const Substitution> each) const;
    Rows later_rows(std::size_t stage, const Rows& before, std::span<const Substitution> each) const;
    at::Tensor sites_of(const Rows& rows, const at::Tensor& bins) const;
    std::vector<std::int64_t> first_changed(std::size_t stage, std::span<const Substitution> each) const;
    StemOutput edited(const at::Tensor& window) const;

    BinsNetwork network_;
    Stem stem_;
    std::vector<StageReach> stages_;
    at::Tensor window_;                ///< on the CPU
    std::vector<at::Tensor> outputs_;  ///< output of each stage, (length, channels)
    at::Tensor sites_;                 ///< (outputs of the first stage, motif_filters)
    StemOutput whole_;                 ///< the stem's output of the unchanged window
    Projections projections_;
};

/// The same by complete windows: readable, slow.
at::Tensor substituted_features_reference(BinsNetwork network, const at::Tensor& window,
                                          std::span<const Substitution> each, const at::Tensor& bins);

}  // namespace bigbird::bins
