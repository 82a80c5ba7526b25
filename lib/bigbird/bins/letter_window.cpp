// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/letter_window.hpp"

#include "bigbird/bins/stem.hpp"
#include "bigbird/bins/substitutions.hpp"
#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::bins {

namespace {

/// Replaces rows [first, first + rows of `part`) of `whole`, (1, rows, width), by each sample's rows of
/// `part`.
at::Tensor with_part(const at::Tensor& whole, const at::Tensor& part, std::int64_t first) {
    const std::int64_t end = first + part.size(1);
    const at::Tensor all = whole.expand({part.size(0), -1, -1});
    return at::cat({all.narrow(1, 0, first), part, all.narrow(1, end, whole.size(1) - end)}, 1);
}

/// Number of bases before a position that affect it.
std::int64_t bases_in_front(const BinsConfig& config) {
    std::int64_t bases = 0;
    for (auto stage = config.stages.rbegin(); stage != config.stages.rend(); ++stage)
        bases = bases * stage->pool + stage->width / 2;
    return bases;
}

}  // namespace

LetterWindow::LetterWindow(BinsNetwork network, const at::Tensor& window, std::int64_t begin,
                           std::int64_t end)
    : network_(std::move(network)), length_(end - begin) {
    const BinsConfig& config = network_->config();
    BIGBIRD_EXPECTS(
        window.size(0) == config.window_bases() && begin >= 0 && begin < end && end <= window.size(0),
        "bases of a window");
    if (config.has_profile()) {
        slice_ = base_channels(window.unsqueeze(0))[0];
        offset_ = begin;
        return;
    }
    const std::vector<StageReach> stages = stage_reaches(config);
    const std::int64_t bases = config.position_bases(), positions = config.bin / bases;
    const std::int64_t last =
        std::min(config.window_positions() - 1, changed_by(stages, end - 1).back().second);
    first_ = std::max<std::int64_t>(0, changed_by(stages, begin).back().first) / positions;
    count_ = last / positions + 1 - first_;
    const std::int64_t halo = (bases_in_front(config) + config.bin - 1) / config.bin;
    before_ = std::min(halo, first_);
    const std::int64_t all = std::min(before_ + count_ + halo, config.window_bins - (first_ - before_));
    const std::int64_t slice_begin = (first_ - before_) * config.bin;
    offset_ = begin - slice_begin;
    const at::NoGradGuard no_gradients;
    slice_ = base_channels(window.narrow(0, slice_begin, all * config.bin).unsqueeze(0))[0];
    stem_ = network_->stem()->forward(window.unsqueeze(0));
}

at::Tensor LetterWindow::logits(const at::Tensor& letters) const {
    const BinsConfig& config = network_->config();
    const at::Tensor read = with_part(slice_.unsqueeze(0), letters, offset_);
    BinsNetwork network = network_;
    if (config.has_profile()) return network->forward(read);
    const std::int64_t positions = config.bin / config.position_bases();
    const StemOutput part = network_->stem()->forward(read);
    StemOutput stem{
        with_part(stem_.positions, part.positions.narrow(1, before_ * positions, count_ * positions),
                  first_ * positions),
        {}};
    if (stem_.sites.defined())
        stem.sites = with_part(stem_.sites, part.sites.narrow(1, before_, count_), first_);
    return network->predict(network->encode(stem));
}

}  // namespace bigbird::bins
