// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/window_pass.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/networks/profiles/heads_of_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace bigbird::networks {

namespace {

/// Sums of Cherimoya's norm are made of those of blocks.
constexpr std::int64_t norm_block = 32;

std::int64_t blocks_of(std::int64_t count, std::int64_t block) {
    return (count + block - 1) / block;
}

/// x - mean and its square, summed over all positions and filters.
std::pair<double, double> sums_of_moments(const PackedPart& part, float* const* rows, float mean,
                                          Crew& crew) {
    const std::int64_t count = part.shape().input, blocks = blocks_of(count, norm_block);
    std::vector<double> sums(static_cast<std::size_t>(2 * blocks));
    crew.run(blocks, 0, [&](std::int64_t b, float*) {
        const std::int64_t first = b * norm_block;
        part.kernels().moments(rows + first, std::min(norm_block, count - first), part.shape().filters, mean,
                               sums.data() + 2 * b);
    });
    double sum = 0, squares = 0;
    for (std::size_t b = 0; b < sums.size(); b += 2) {
        sum += sums[b];
        squares += sums[b + 1];
    }
    return {sum, squares};
}

}  // namespace

void Crew::run(std::int64_t count, std::int64_t floats,
               const std::function<void(std::int64_t, float*)>& body) {
    const auto workers = static_cast<int>(std::min<std::int64_t>(threads(), count));
    for (int w = 0; w < workers; ++w)
        scratch_[static_cast<std::size_t>(w)].reserve(floats);
    std::atomic<std::int64_t> next{0};
    parallel_for(workers, workers, [&](std::int64_t w) {
        float* const scratch = scratch_[static_cast<std::size_t>(w)].data();
        for (std::int64_t i = next++; i < count; i = next++)
            body(i, scratch);
    });
}

RowTable::RowTable(const PackedPart& part)
    : rows_(static_cast<std::size_t>(part.shape().input + 2 * part.margin()), part.zero()),
      margin_(part.margin()) {}

Words::Words(const PackedPart& part)
    : left_(part.stem_left()),
      margin_(part.shape().stem + word_letters),
      letters_(static_cast<std::size_t>(part.shape().input + 2 * margin_ + word_letters), 4),
      words_(static_cast<std::size_t>(part.shape().input + 2 * margin_), words_in_all - 1) {}

void Words::put_all(std::span<const std::uint8_t> codes) {
    for (std::size_t base = 0; base < codes.size(); ++base)
        put(static_cast<std::int64_t>(base), codes[base]);
}

void Words::put(std::int64_t base, std::uint8_t code) {
    const auto at = static_cast<std::size_t>(base + margin_);
    letters_[at] = std::min<std::uint8_t>(code, 4);
    for (std::size_t w = at - word_letters + 1; w <= at; ++w)
        words_[w] = static_cast<std::uint16_t>(25 * letters_[w] + 5 * letters_[w + 1] + letters_[w + 2]);
}

WindowPass::WindowPass(const PackedPart& part, bool keeps)
    : part_(part), words_(part), stages_(part.stages(), RowTable(part)), product_rows_(part) {
    const std::int64_t row = part.row();
    for (std::size_t b = 0; b < (keeps ? part.stages() : std::min<std::size_t>(2, part.stages())); ++b)
        buffers_.emplace_back(part.range(b).size() * row);               // stages become shorter
    if (part.shape().pads() && buffers_.size() > 1) buffers_.resize(1);  // layers change rows in place
    for (std::size_t s = 0; s < part.stages(); ++s) {
        float* const data = buffers_[s % buffers_.size()].data();
        const PositionRange range = part.range(s);
        rows_.emplace_back();
        for (std::int64_t p = range.begin; p < range.end; ++p) {
            rows_[s].push_back(data + (p - range.begin) * row);
            stages_[s].set(p, rows_[s].back());
        }
    }
}

void WindowPass::compute(const std::uint8_t* codes, Crew& crew) {
    stem(codes, crew);
    for (std::size_t i = 0; i + 1 < part_.stages(); ++i)
        layer(i, crew);
}

void WindowPass::layer(std::size_t layer, Crew& crew) {
    if (part_.shape().pads())
        cherimoya_rows(layer, crew);
    else
        dilated_rows(layer, crew);
}

void WindowPass::stem(const std::uint8_t* codes, Crew& crew) {
    words_.put_all({codes, static_cast<std::size_t>(part_.shape().input)});
    const PositionRange range = part_.range(0);
    const std::int64_t block = part_.kernels().most_rows;
    crew.run(blocks_of(range.size(), block), 0, [&](std::int64_t b, float*) {
        const std::int64_t first = b * block;
        part_.kernels().stem(part_.stem(), words_.at(range.begin + first),
                             std::min(block, range.size() - first), rows_[0].data() + first);
    });
}

void WindowPass::dilated_rows(std::size_t layer, Crew& crew) {
    const std::vector<std::int64_t>& pairs = part_.pairs(layer);
    const PositionRange range = part_.range(layer + 1);
    const std::vector<float*>& rows = rows_[layer + 1];
    const auto row_of = [&](std::int64_t position) {
        return range.holds(position) ? rows[static_cast<std::size_t>(position - range.begin)] : nullptr;
    };
    convolve_pairs(part_, layer, pairs, stages_[layer], row_of, crew);
}

void WindowPass::cherimoya_rows(std::size_t layer, Crew& crew) {
    const ProfileKernels& kernels = part_.kernels();
    const std::int64_t count = part_.shape().input, row = part_.row(), block = kernels.most_rows / 2;
    separate_.reserve(count * row);
    std::vector<float*> y(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        y[static_cast<std::size_t>(i)] = separate_.data() + i * row;
    const std::int64_t dilation = part_.shape().dilation(static_cast<std::int64_t>(layer));
    crew.run(blocks_of(count, block), 0, [&](std::int64_t b, float*) {
        const std::int64_t first = b * block;
        kernels.separate(part_.taps(layer), row, stages_[layer].rows() + first, dilation,
                         std::min(block, count - first), y.data() + first);
    });
    const auto size = static_cast<double>(count * part_.shape().filters);
    const double mean = sums_of_moments(part_, y.data(), 0, crew).first / size;
    const double variance = sums_of_moments(part_, y.data(), static_cast<float>(mean), crew).second / size;
    const FeedForward forward = part_.feed_forward(layer);
    const std::int64_t floats = block * (2 * row + forward.first.out);
    crew.run(blocks_of(count, block), floats, [&](std::int64_t b, float* scratch) {
        const std::int64_t first = b * block;
        kernels.feed_forward(
            forward, row, y.data() + first, std::min(block, count - first), static_cast<float>(mean),
            static_cast<float>(1 / std::sqrt(variance + norm_epsilon)), rows_[layer].data() + first, scratch);
    });
}

PartHeads WindowPass::heads(bool profile, Crew& crew) {
    const std::int64_t row = part_.row(), blocks = count_blocks(part_);
    sums_.reserve(blocks * row);
    std::vector<const float*> sums;
    for (std::int64_t b = 0; b < blocks; ++b)
        sums.push_back(sums_.data() + b * row);
    crew.run(blocks, 0, [&](std::int64_t b, float*) {
        sum_count_block(part_, stages_.back(), b, sums_.data() + b * row);
    });
    PartHeads heads{.counts = counts_of(part_, sums), .profile = {}};
    if (!profile) return heads;
    const PositionRange range = part_.profile_rows();
    products_.reserve(range.size() * part_.profile_row());
    std::vector<std::int64_t> positions;
    for (std::int64_t p = range.begin; p < range.end; ++p)
        if (p >= 0 && p < part_.shape().input) positions.push_back(p);
    multiply_positions(part_, stages_.back(), positions, products_.data(), product_rows_, crew);
    heads.profile = profile_of(part_, product_rows_, crew);
    return heads;
}

}  // namespace bigbird::networks
