// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/substitutions.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace bigbird::bins {

namespace {

constexpr std::int64_t stems_together = 256;
/// Positions that go through the encoder together, at least two windows of them. Few substitutions then need
/// little padding, and the tensors between layers stay in a processor's cache.
constexpr std::int64_t positions_together = 256, fewest_together = 2;

}  // namespace

SubstitutedWindow::SubstitutedWindow(BinsNetwork network, const at::Tensor& window)
    : network_(std::move(network)),
      stem_(network_->stem(), network_->config(), window),
      whole_(stem_.whole()),
      projections_(network_->project(whole_.positions)) {
    BIGBIRD_EXPECTS(window.size(0) == network_->config().window_bases(), "a window of another length");
}

at::Tensor SubstitutedWindow::features() const {
    return network_.ptr()->encode(whole_);
}

at::Tensor SubstitutedWindow::features(std::span<const Substitution> each, const at::Tensor& bins) const {
    std::vector<at::Tensor> all;
    const at::Device device = whole_.positions.device();
    const std::int64_t count = std::ssize(each);
    const std::int64_t substitutions_together =
        std::max(fewest_together, positions_together / network_->config().window_positions());
    for (std::int64_t begin = 0; begin < count; begin += stems_together) {
        const std::int64_t stems = std::min(stems_together, count - begin);
        const at::Tensor chosen = bins.narrow(0, begin, stems);
        const SubstitutedStem::Changes changes = stem_.changes(
            each.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(stems)), chosen);
        const at::Tensor positions = at::tensor(changes.first, at::kLong).unsqueeze(1) +
                                     at::arange(changes.positions.size(1), at::kLong);
        for (std::int64_t i = 0; i < stems; i += substitutions_together) {
            const std::int64_t some = std::min(substitutions_together, stems - i);
            const at::Tensor rows = at::arange(i, i + substitutions_together).clamp_max(i + some - 1);
            const ChangedPositions changed{changes.positions.index_select(0, rows.to(device)),
                                           positions.index_select(0, rows).to(device)};
            const at::Tensor means = network_.ptr()->encode_changed(whole_.positions, projections_, changed,
                                                                    chosen.index_select(0, rows).to(device));
            all.push_back(means.narrow(0, 0, some));
            if (!changes.sites.defined()) continue;
            all.back() = at::cat({all.back(), changes.sites.narrow(0, i, some).to(at::kFloat)}, 2);
        }
    }
    return at::cat(all);
}

at::Tensor SubstitutedWindow::edited_features(const at::Tensor& window) const {
    return network_.ptr()->encode(stem_.edited(window));
}

at::Tensor substituted_features_reference(BinsNetwork network, const at::Tensor& window,
                                          std::span<const Substitution> each, const at::Tensor& bins) {
    std::vector<at::Tensor> all;
    for (const Substitution& one : each) {
        at::Tensor changed = window.clone();
        changed[one.at] = one.code;
        all.push_back(network->features(changed.unsqueeze(0))[0].index_select(
            0, bins[std::ssize(all)].to(window.device())));
    }
    return at::stack(all);
}

}  // namespace bigbird::bins
