// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/heads_of_rows.hpp"
#include "bigbird/networks/profiles/window_pass.hpp"

#include <algorithm>

namespace bigbird::networks {

EditedPass::EditedPass(const WindowPass& whole)
    : whole_(whole),
      part_(whole.part_),
      words_(part_),
      stages_(whole.stages_),
      product_rows_(whole.product_rows_),
      changed_(part_.stages()),
      is_listed_(static_cast<std::size_t>(part_.shape().input + 2 * part_.margin())),
      buffers_(2) {}

void EditedPass::begin(const std::uint8_t* codes) {
    restore();
    codes_ = codes;
    words_.put_all({codes, static_cast<std::size_t>(part_.shape().input)});
}

void EditedPass::restore() {
    for (std::size_t s = 0; s < stages_.size(); ++s)
        for (const std::int64_t position : changed_[s])
            stages_[s].set(position, whole_.stages_[s][position]);
    for (const std::int64_t position : changed_.back())
        product_rows_.set(position, whole_.product_rows_[position]);
    for (std::vector<std::int64_t>& positions : changed_)
        positions.clear();
}

void EditedPass::stem_rows(const bins::Substitution& edit) {
    const PositionRange range = part_.range(0);
    const std::int64_t left = part_.stem_left(), right = part_.shape().stem - 1 - left, row = part_.row(),
                       begin = std::max(edit.at - right, range.begin),
                       end = std::min(edit.at + left + 1, range.end);
    std::vector<float*> to;
    float* const data = buffers_[0].reserve(std::max<std::int64_t>(end - begin, 0) * row);
    for (std::int64_t p = begin; p < end; ++p) {
        to.push_back(data + (p - begin) * row);
        stages_[0].set(p, to.back());
        changed_[0].push_back(p);
    }
    words_.put(edit.at, edit.code);
    if (!to.empty()) part_.kernels().stem(part_.stem(), words_.at(begin), std::ssize(to), to.data());
    words_.put(edit.at, codes_[edit.at]);
}

/// The pairs of a layer that read a changed position.
void EditedPass::find_pairs(std::size_t layer) {
    const std::int64_t dilation = part_.shape().dilation(static_cast<std::int64_t>(layer)),
                       margin = part_.margin();
    pairs_.clear();
    std::int64_t begin = part_.shape().input + margin, end = -margin;
    for (const std::int64_t position : changed_[layer]) {
        for (std::int64_t tap = -1; tap <= 2; ++tap) {
            const std::int64_t first = position - tap * dilation;
            if (!part_.is_pair(layer, first)) continue;
            is_listed_[static_cast<std::size_t>(first + margin)] = 1;
            begin = std::min(begin, first);
            end = std::max(end, first + 1);
        }
    }
    for (std::int64_t first = begin; first < end; ++first) {
        std::uint8_t& listed = is_listed_[static_cast<std::size_t>(first + margin)];
        if (listed != 0) pairs_.push_back(first);
        listed = 0;
    }
}

void EditedPass::dilated_rows(std::size_t layer, Crew& crew) {
    find_pairs(layer);
    const std::int64_t row = part_.row();
    const PositionRange range = part_.range(layer + 1);
    std::vector<std::int64_t>& changed = changed_[layer + 1];
    float* const data = buffers_[(layer + 1) % 2].reserve(2 * std::ssize(pairs_) * row);
    const auto row_of = [&](std::int64_t position) -> float* {
        if (!range.holds(position)) return nullptr;
        float* const to = data + std::ssize(changed) * row;
        stages_[layer + 1].set(position, to);
        changed.push_back(position);
        return to;
    };
    convolve_pairs(part_, layer, pairs_, stages_[layer], row_of, crew);
}

PartHeads EditedPass::heads(const bins::Substitution& edit, bool profile, Crew& crew) {
    restore();
    stem_rows(edit);
    for (std::size_t layer = 0; layer + 1 < part_.stages(); ++layer)
        dilated_rows(layer, crew);
    const std::int64_t row = part_.row(), blocks = count_blocks(part_);
    std::vector<std::int64_t>& changed = changed_.back();
    std::ranges::sort(changed);
    float* const own = sums_.reserve(blocks * row);
    std::vector<const float*> sums;
    for (std::int64_t b = 0; b < blocks; ++b)
        sums.push_back(whole_.sums_.data() + b * row);
    for (const std::int64_t position : changed) {
        const std::int64_t block = count_block_of(part_, position);
        if (block < 0 || sums[static_cast<std::size_t>(block)] == own + block * row) continue;
        sum_count_block(part_, stages_.back(), block, own + block * row);
        sums[static_cast<std::size_t>(block)] = own + block * row;
    }
    PartHeads heads{.counts = counts_of(part_, sums), .profile = {}};
    if (!profile) return heads;
    std::vector<std::int64_t> positions;
    std::ranges::copy_if(changed, std::back_inserter(positions),
                         [&](std::int64_t p) { return part_.profile_rows().holds(p); });
    multiply_positions(part_, stages_.back(), positions,
                       products_.reserve(std::ssize(positions) * part_.profile_row()), product_rows_, crew);
    heads.profile = profile_of(part_, product_rows_, crew);
    return heads;
}

}  // namespace bigbird::networks
