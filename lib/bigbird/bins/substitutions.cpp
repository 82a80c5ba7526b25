// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/substitutions.hpp"

#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/model/device/device.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>

namespace bigbird::bins {

namespace {

constexpr std::uint8_t no_base = 4;
constexpr std::int64_t stems_together = 256;
/// Positions that go through the encoder together, at least two windows of them. Few substitutions then need
/// little padding, and the tensors between layers stay in a processor's cache.
constexpr std::int64_t positions_together = 128, fewest_together = 2;

std::int64_t pooled(std::int64_t index, std::int64_t pool) {
    return index >= 0 ? index / pool : (index + 1) / pool - 1;
}

std::int64_t rounded_up(std::int64_t size, std::int64_t by) {
    return (size + by - 1) / by * by;
}

/// Replaces rows [first, first + rows) of `whole` by `rows`.
at::Tensor with_rows(const at::Tensor& whole, std::int64_t first, const at::Tensor& rows) {
    const std::int64_t end = first + rows.size(0);
    return at::cat({whole.narrow(0, 0, first), rows, whole.narrow(0, end, whole.size(0) - end)});
}

at::Tensor indices(const std::vector<std::int64_t>& values, const at::Device& device) {
    return at::tensor(values, at::kLong).to(device);
}

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> changed_by(std::span<const StageReach> stages,
                                                              std::int64_t at) {
    std::vector<std::pair<std::int64_t, std::int64_t>> changed;
    std::int64_t first = at, last = at;
    for (const StageReach& stage : stages) {
        first = pooled(first - stage.width / 2, stage.pool);
        last = pooled(last + stage.width / 2, stage.pool);
        changed.emplace_back(first, last);
    }
    return changed;
}

std::vector<StageReach> stage_reaches(const BinsConfig& config) {
    std::vector<StageReach> stages;
    std::int64_t length = config.window_bases();
    for (const Stage& stage : config.stages)
        stages.push_back({stage.width, stage.pool, length /= stage.pool, 0});
    for (std::int64_t at = 0; at < config.position_bases(); ++at) {
        const auto changed = changed_by(stages, at);
        for (std::size_t i = 0; i < stages.size(); ++i) {
            const std::int64_t count = changed[i].second - changed[i].first + 1;
            stages[i].changed = std::min(stages[i].length, std::max(stages[i].changed, count));
        }
    }
    return stages;
}

/// Outputs of a stage that substitutions change.
struct SubstitutedWindow::Rows {
    std::vector<std::int64_t> first;  ///< of each substitution
    at::Tensor values;                ///< (substitutions, changed, channels)
    at::Tensor sites;                 ///< the first stage's, likewise; undefined without motif_filters
};

SubstitutedWindow::SubstitutedWindow(BinsNetwork network, const at::Tensor& window)
    : network_(std::move(network)),
      stem_(network_->stem()),
      stages_(stage_reaches(network_->config())),
      window_(window.to(at::kCPU).contiguous()) {
    BIGBIRD_EXPECTS(window.size(0) == network_->config().window_bases(), "a window of another length");
    auto [x, sites] = stem_->first(window.unsqueeze(0), stages_.front().pool);
    outputs_.push_back(x[0].contiguous());
    if (sites.defined()) sites_ = sites[0].contiguous();
    for (std::size_t i = 1; i < stages_.size(); ++i) {
        x = stem_->pooled(i, stem_->convolved(i, x));
        outputs_.push_back(x[0].contiguous());
    }
    whole_ = output_of(outputs_.back(), sites_);
    projections_ = network_->project(whole_.positions);
}

StemOutput SubstitutedWindow::output_of(const at::Tensor& x, const at::Tensor& sites) const {
    const std::int64_t bins = network_->config().window_bins;
    return {x.unsqueeze(0),
            sites.defined() ? sites.view({1, bins, sites.size(0) / bins, -1}).amax(2) : at::Tensor()};
}

std::vector<std::int64_t> SubstitutedWindow::first_changed(std::size_t stage,
                                                           std::span<const Substitution> each) const {
    std::vector<std::int64_t> first;
    for (const Substitution& one : each) {
        first.push_back(std::clamp<std::int64_t>(changed_by(stages_, one.at)[stage].first, 0,
                                                 stages_[stage].length - stages_[stage].changed));
    }
    return first;
}

SubstitutedWindow::Rows SubstitutedWindow::first_rows(std::span<const Substitution> each) const {
    const StageReach& stage = stages_.front();
    const std::int64_t halo = (stage.width / 2 + stage.pool - 1) / stage.pool,
                       length = (stage.changed + 2 * halo) * stage.pool, bases = window_.size(0);
    Rows rows{first_changed(0, each), {}, {}};
    at::Tensor slices = at::full({std::ssize(each), length}, no_base, at::kByte);
    const auto* const codes = window_.const_data_ptr<std::uint8_t>();
    auto* out = slices.mutable_data_ptr<std::uint8_t>();
    for (std::size_t i = 0; i < each.size(); ++i, out += length) {
        const std::int64_t begin = (rows.first[i] - halo) * stage.pool;
        const std::int64_t from = std::max<std::int64_t>(begin, 0), to = std::min(begin + length, bases);
        std::copy(codes + from, codes + to, out + (from - begin));
        out[each[i].at - begin] = each[i].code;
    }
    const StemOutput all = stem_->first(slices.to(outputs_.front().device()), stage.pool);
    rows.values = all.positions.narrow(1, halo, stage.changed).contiguous();
    if (all.sites.defined()) rows.sites = all.sites.narrow(1, halo, stage.changed).contiguous();
    return rows;
}

SubstitutedWindow::Rows SubstitutedWindow::later_rows(std::size_t index, const Rows& before,
                                                      std::span<const Substitution> each) const {
    const StageReach& stage = stages_[index];
    const at::Tensor& whole = outputs_[index - 1];
    // The outputs are in tiles of the convolution that do not overlap the slice's neighbors, because a
    // value's rounding depends on all inputs of its tile.
    const std::int64_t halo = rounded_up(stage.width / 2, tile), outputs = stage.changed * stage.pool,
                       length = halo + rounded_up(outputs, tile) + halo, changed = before.values.size(1),
                       channels = whole.size(1), count = std::ssize(each);
    Rows rows{first_changed(index, each), {}, {}};
    std::vector<std::int64_t> from, changed_from, changed_to, begins;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto of = static_cast<std::size_t>(i);
        const std::int64_t begin = rows.first[of] * stage.pool - halo;
        begins.push_back(begin);
        for (std::int64_t j = 0; j < length; ++j)
            from.push_back(std::clamp<std::int64_t>(begin + j, 0, whole.size(0) - 1));
        for (std::int64_t j = 0; j < changed; ++j) {
            const std::int64_t to = before.first[of] + j - begin;
            if (to < 0 || to >= length) continue;
            changed_from.push_back(i * changed + j);
            changed_to.push_back(i * length + to);
        }
    }
    const at::Device device = whole.device();
    at::Tensor x = whole.index_select(0, indices(from, device));
    x.index_copy_(0, indices(changed_to, device),
                  before.values.view({-1, channels}).index_select(0, indices(changed_from, device)));
    // The slices are convolved as one sequence; the effects of a slice's neighbors on its ends are ignored.
    at::Tensor y = stem_->convolved(index, x.unsqueeze(0)).view({count, length, -1});
    for (std::int64_t i = 0; i < count; ++i) {  // except at the window's ends
        const std::int64_t begin = begins[static_cast<std::size_t>(i)];
        const std::int64_t skip = std::max<std::int64_t>(0, -begin),
                           size = std::min(length, whole.size(0) - begin) - skip;
        if (size == length) continue;
        y[i].narrow(0, skip, size)
            .copy_(stem_->convolved(index, x.narrow(0, i * length + skip, size).unsqueeze(0))[0]);
    }
    rows.values = stem_->pooled(index, y.narrow(1, halo, outputs).contiguous());
    return rows;
}

at::Tensor SubstitutedWindow::sites_of(const Rows& rows, const at::Tensor& bins) const {
    const std::int64_t count = bins.size(0), chosen = bins.size(1), changed = rows.sites.size(1),
                       filters = sites_.size(1), outputs = sites_.size(0) / network_->config().window_bins;
    const at::Device device = sites_.device();
    at::Tensor best = whole_.sites[0].index_select(0, bins.flatten().to(device));
    std::vector<std::int64_t> pairs, from, changed_from, changed_to;  // bins that hold changed outputs
    const at::Tensor of = bins.contiguous();
    const auto* const bin = of.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count * chosen; ++i) {
        const std::int64_t begin = bin[i] * outputs, first = rows.first[static_cast<std::size_t>(i / chosen)];
        if (first + changed <= begin || first >= begin + outputs) continue;
        const std::int64_t pair = std::ssize(pairs);
        pairs.push_back(i);
        for (std::int64_t j = 0; j < outputs; ++j)
            from.push_back(begin + j);
        for (std::int64_t j = 0; j < changed; ++j) {
            const std::int64_t to = first + j - begin;
            if (to < 0 || to >= outputs) continue;
            changed_from.push_back(i / chosen * changed + j);
            changed_to.push_back(pair * outputs + to);
        }
    }
    if (!pairs.empty()) {
        at::Tensor all = sites_.index_select(0, indices(from, device));
        all.index_copy_(0, indices(changed_to, device),
                        rows.sites.view({-1, filters}).index_select(0, indices(changed_from, device)));
        best.index_copy_(0, indices(pairs, device), all.view({-1, outputs, filters}).amax(1));
    }
    return best.view({count, chosen, filters});
}

StemOutput SubstitutedWindow::edited(const at::Tensor& window) const {
    const at::Tensor codes = window.to(at::kCPU).contiguous(),
                     different = codes.ne(window_).nonzero().flatten();
    if (different.numel() == 0) return whole_;
    std::int64_t first = different[0].item<std::int64_t>(), last = different[-1].item<std::int64_t>();
    const at::Device device = outputs_.front().device();
    at::Tensor x, sites = sites_;  // for a complete stage
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const StageReach& stage = stages_[i];
        first = std::max<std::int64_t>(0, pooled(first - stage.width / 2, stage.pool));
        last = std::min(stage.length - 1, pooled(last + stage.width / 2, stage.pool));
        const std::int64_t halo = rounded_up(stage.width / 2, stage.pool), count = last - first + 1,
                           before = stage.length * stage.pool,
                           begin = std::max<std::int64_t>(0, first * stage.pool - halo),
                           end = std::min(before, (last + 1) * stage.pool + halo),
                           skip = first - begin / stage.pool;
        at::Tensor rows;  // outputs from begin / pool on
        if (i == 0) {
            const StemOutput some =
                stem_->first(codes.narrow(0, begin, end - begin).unsqueeze(0).to(device), stage.pool);
            rows = some.positions[0];
            if (sites.defined()) sites = with_rows(sites, first, some.sites[0].narrow(0, skip, count));
        } else {
            const at::Tensor slice = x.narrow(0, begin, end - begin).unsqueeze(0);
            rows = stem_->pooled(i, stem_->convolved(i, slice))[0];
        }
        x = with_rows(outputs_[i], first, rows.narrow(0, skip, count));
    }
    return output_of(x, sites);
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
        const auto group = each.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(stems));
        Rows changes = first_rows(group);
        at::Tensor sites;
        if (changes.sites.defined()) sites = sites_of(changes, chosen);
        for (std::size_t stage = 1; stage < stages_.size(); ++stage)
            changes = later_rows(stage, changes, group);
        const at::Tensor positions =
            at::tensor(changes.first, at::kLong).unsqueeze(1) + at::arange(changes.values.size(1), at::kLong);
        const auto pass = [&](std::int64_t i) {
            const std::int64_t some = std::min(substitutions_together, stems - i);
            const at::Tensor rows = at::arange(i, i + substitutions_together).clamp_max(i + some - 1);
            const ChangedPositions changed{changes.values.index_select(0, rows.to(device)),
                                           positions.index_select(0, rows).to(device)};
            const at::Tensor means = network_.ptr()
                                         ->encode_changed(whole_.positions, projections_, changed,
                                                          chosen.index_select(0, rows).to(device))
                                         .narrow(0, 0, some);
            return sites.defined() ? at::cat({means, sites.narrow(0, i, some).to(at::kFloat)}, 2) : means;
        };
        std::vector<at::Tensor> passes(
            static_cast<std::size_t>((stems + substitutions_together - 1) / substitutions_together));
        model::for_each_pass(std::ssize(passes), device.is_cpu(), [&](std::int64_t i) {
            passes[static_cast<std::size_t>(i)] = pass(i * substitutions_together);
        });
        std::ranges::move(passes, std::back_inserter(all));
    }
    return at::cat(all);
}

at::Tensor SubstitutedWindow::edited_features(const at::Tensor& window) const {
    return network_.ptr()->encode(edited(window));
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
