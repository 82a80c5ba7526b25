// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/substitutions.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace bigbird::bins {

namespace {

/// (substitutions, length) codes of window[begins[i], begins[i] + length), substitution i done.
at::Tensor changed_slices(const at::Tensor& window, std::span<const Substitution> each,
                          std::span<const std::int64_t> begins, std::int64_t length) {
    const at::Tensor from = window.to(at::kCPU).contiguous();
    at::Tensor slices = at::empty({std::ssize(each), length}, at::kByte);
    const auto* const codes = from.const_data_ptr<std::uint8_t>();
    auto* out = slices.mutable_data_ptr<std::uint8_t>();
    for (std::size_t i = 0; i < each.size(); ++i, out += length) {
        std::copy_n(codes + begins[i], length, out);
        out[each[i].at - begins[i]] = each[i].code;
    }
    return slices.to(window.device());
}

/// Copies rows [from_of[i], from_of[i] + count) of slices[i] to rows [to_of[i], …) of each copy of `whole`.
at::Tensor with_rows(const at::Tensor& whole, const at::Tensor& slices, const at::Tensor& from,
                     const at::Tensor& to) {
    const std::int64_t copies = slices.size(0), width = whole.size(2);
    at::Tensor all = whole.expand({copies, -1, -1}).reshape({copies * whole.size(1), width});
    all.index_copy_(0, to, slices.reshape({-1, width}).index_select(0, from).to(all.scalar_type()));
    return all.view({copies, whole.size(1), width});
}

}  // namespace

StemReach::StemReach(const BinsConfig& config) : stages(config.stages) {
    const std::int64_t bases = config.position_bases();
    for (std::int64_t at = 0; at < bases; ++at) {
        const auto [first, last] = changed_by(at);
        changed = std::max(changed, last - first + 1);
    }
    std::int64_t before = 0;  // bases in front of a position that it is computed from
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage)
        before = before * stage->pool + stage->width / 2;
    halo = (before + bases - 1) / bases;
}

std::pair<std::int64_t, std::int64_t> StemReach::changed_by(std::int64_t at) const {
    const auto pooled = [](std::int64_t place, std::int64_t pool) {
        return place >= 0 ? place / pool : (place + 1) / pool - 1;
    };
    std::int64_t first = at, last = at;
    for (const Stage& stage : stages) {
        first = pooled(first - stage.width / 2, stage.pool);
        last = pooled(last + stage.width / 2, stage.pool);
    }
    return {first, last};
}

SubstitutedWindow::SubstitutedWindow(BinsNetwork network, const at::Tensor& window)
    : network_(std::move(network)),
      reach_(network_->config()),
      window_(window),
      stem_(network_->stem(window.unsqueeze(0), network_->config().position_bases())) {
    BIGBIRD_EXPECTS(window.size(0) == network_->config().window_bases(), "a window of another length");
}

at::Tensor SubstitutedWindow::features(std::span<const Substitution> each) const {
    const BinsConfig& config = network_->config();
    const std::int64_t positions = config.window_positions(), bases = config.position_bases(),
                       length = std::min(reach_.changed + 2 * reach_.halo, positions),
                       changed = std::min(reach_.changed, positions);
    std::vector<std::int64_t> begins, from, to;
    for (std::size_t i = 0; i < each.size(); ++i) {
        const std::int64_t first =
            std::clamp<std::int64_t>(reach_.changed_by(each[i].at).first, 0, positions - changed);
        const std::int64_t begin = std::clamp<std::int64_t>(first - reach_.halo, 0, positions - length);
        begins.push_back(begin * bases);
        for (std::int64_t j = 0; j < changed; ++j) {
            from.push_back(static_cast<std::int64_t>(i) * length + first - begin + j);
            to.push_back(static_cast<std::int64_t>(i) * positions + first + j);
        }
    }
    const StemOutput slices =
        network_->stem(changed_slices(window_, each, begins, length * bases), config.position_bases());
    const at::Tensor rows = at::tensor(from, at::kLong).to(window_.device()),
                     places = at::tensor(to, at::kLong).to(window_.device());
    StemOutput stem{with_rows(stem_.positions, slices.positions, rows, places), {}};
    if (stem_.sites.defined()) {
        stem.sites = with_rows(stem_.sites, slices.sites, rows, places)
                         .view({std::ssize(each), config.window_bins, positions / config.window_bins, -1})
                         .amax(2);
    }
    return network_.ptr()->encode(stem);
}

at::Tensor substituted_features_reference(BinsNetwork network, const at::Tensor& window,
                                          std::span<const Substitution> each) {
    std::vector<at::Tensor> all;
    for (const Substitution& one : each) {
        at::Tensor changed = window.clone();
        changed[one.at] = one.code;
        all.push_back(network->features(changed.unsqueeze(0)));
    }
    return at::cat(all);
}

}  // namespace bigbird::bins
