// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/heads_of_rows.hpp"
#include "bigbird/networks/profiles/window_pass.hpp"

#include <algorithm>

namespace bigbird::networks {

void Positions::move_to(std::vector<std::int64_t>& to) {
    for (std::int64_t position = begin_; position < end_; ++position) {
        std::uint8_t& mark = marks_[static_cast<std::size_t>(position + margin_)];
        if (mark != 0) to.push_back(position);
        mark = 0;
    }
    begin_ = most;
    end_ = -most;
}

EditedPass::EditedPass(const WindowPass& whole)
    : whole_(whole),
      part_(whole.part_),
      words_(part_),
      stages_(whole.stages_),
      product_rows_(part_),
      changed_(part_.stages()),
      marked_(part_),
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
    for (std::vector<std::int64_t>& positions : changed_)
        positions.clear();
}

void EditedPass::stem(const bins::Substitution& edit) {
    restore();
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

/// The positions that a layer changes, and their pairs.
void EditedPass::find_changed(std::size_t layer) {
    const std::int64_t dilation = part_.shape().dilation(static_cast<std::int64_t>(layer));
    const PositionRange range = part_.range(layer + 1);
    for (const std::int64_t position : changed_[layer])
        for (const std::int64_t reader : {position - dilation, position, position + dilation})
            if (range.holds(reader)) marked_.mark(reader);
    std::vector<std::int64_t>& changed = changed_[layer + 1];
    marked_.move_to(changed);
    for (const std::int64_t position : changed)
        marked_.mark(position - (position & dilation));
    pairs_.clear();
    marked_.move_to(pairs_);
}

void EditedPass::layer(std::size_t layer, Crew& crew) {
    find_changed(layer);
    const std::int64_t row = part_.row();
    const std::vector<std::int64_t>& changed = changed_[layer + 1];
    RowTable& stage = stages_[layer + 1];
    float* const data = buffers_[(layer + 1) % 2].reserve(std::ssize(changed) * row);
    for (std::int64_t i = 0; i < std::ssize(changed); ++i)
        stage.set(changed[static_cast<std::size_t>(i)], data + i * row);
    const RowTable& unchanged = whole_.stages_[layer + 1];
    const auto row_of = [&](std::int64_t position) {
        return stage[position] == unchanged[position] ? nullptr : data + (stage[position] - data);
    };
    convolve_pairs(part_, layer, pairs_, stages_[layer], row_of, crew);
}

PartHeads EditedPass::heads_of(const bins::Substitution& edit, bool profile, Crew& crew) {
    stem(edit);
    for (std::size_t i = 0; i + 1 < part_.stages(); ++i)
        layer(i, crew);
    return heads(profile, crew);
}

PartHeads EditedPass::heads(bool profile, Crew& crew) {
    const std::int64_t row = part_.row(), blocks = count_blocks(part_);
    const std::vector<std::int64_t>& changed = changed_.back();
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
    product_rows_ = whole_.product_rows_;
    multiply_positions(part_, stages_.back(), positions,
                       products_.reserve(std::ssize(positions) * part_.profile_row()), product_rows_, crew);
    heads.profile = profile_of(part_, product_rows_, crew);
    return heads;
}

}  // namespace bigbird::networks
