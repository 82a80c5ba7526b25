// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/heads_of_rows.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::networks {

namespace {

constexpr std::int64_t count_block = 32;

/// Pairs of one call: what its products read and write shall stay in the second cache.
std::int64_t pairs_at_once(const PackedPart& part) {
    constexpr std::int64_t step = 24, floats = 12288;
    return std::clamp(floats / part.row() / step * step, step, part.kernels().most_rows);
}

}  // namespace

void convolve_pairs(const PackedPart& part, std::size_t layer, std::span<const std::int64_t> pairs,
                    const RowTable& from, const std::function<float*(std::int64_t)>& row_of, Crew& crew) {
    const DilatedLayer dilated = part.dilated(layer);
    const std::int64_t block = pairs_at_once(part), count = std::ssize(pairs);
    std::vector<float*> to;
    to.reserve(2 * pairs.size());
    for (const std::int64_t first : pairs) {
        to.push_back(row_of(first));
        to.push_back(row_of(first + dilated.dilation));
    }
    crew.run((count + block - 1) / block, 2 * points * block * part.row(),
             [&](std::int64_t b, float* scratch) {
                 const std::int64_t first = b * block;
                 part.kernels().convolve(dilated, pairs.data() + first, std::min(block, count - first),
                                         from.rows(), to.data() + 2 * first, scratch);
             });
}

std::int64_t count_blocks(const PackedPart& part) {
    return (part.shape().counts + count_block - 1) / count_block;
}

std::int64_t count_block_of(const PackedPart& part, std::int64_t position) {
    return part.counts().holds(position) ? (position - part.counts().begin) / count_block : -1;
}

void sum_count_block(const PackedPart& part, const RowTable& trunk, std::int64_t block, float* to) {
    const std::int64_t first = part.counts().begin + block * count_block;
    part.kernels().sum_rows(trunk.rows() + first, std::min(count_block, part.counts().end - first),
                            part.row(), to);
}

std::vector<float> counts_of(const PackedPart& part, std::span<const float* const> sums) {
    std::vector<float> whole(static_cast<std::size_t>(part.row())), counts;
    part.kernels().sum_rows(sums.data(), std::ssize(sums), part.row(), whole.data());
    for (std::int64_t group = 0; group < std::ssize(part.shape().groups); ++group)
        counts.push_back(part.log_count(whole.data(), group));
    return counts;
}

void multiply_positions(const PackedPart& part, const RowTable& trunk,
                        std::span<const std::int64_t> positions, float* to, RowTable& products, Crew& crew) {
    const std::int64_t block = part.kernels().most_rows, count = std::ssize(positions);
    std::vector<const float*> rows;
    std::vector<float*> results;
    for (const std::int64_t position : positions) {
        rows.push_back(trunk[position]);
        results.push_back(to + std::ssize(results) * part.profile_row());
        products.set(position, results.back());
    }
    crew.run((count + block - 1) / block, 0, [&](std::int64_t b, float*) {
        const std::int64_t first = b * block;
        part.kernels().multiply(part.profile(), rows.data() + first, std::min(block, count - first),
                                results.data() + first);
    });
}

std::vector<float> profile_of(const PackedPart& part, const RowTable& products, Crew& crew) {
    const std::int64_t output = part.shape().output, head = part.shape().head,
                       columns = part.shape().columns();
    std::vector<float> logits(static_cast<std::size_t>(output * columns));
    crew.run(columns, diagonals_scratch(head, output), [&](std::int64_t column, float* scratch) {
        part.kernels().sum_diagonals(products.rows() + part.profile_rows().begin, part.profile_column(column),
                                     head, output, part.profile_bias(column), scratch, logits.data() + column,
                                     columns);
    });
    return logits;
}

PartHeads joined(std::span<const PartHeads> parts) {
    PartHeads all = parts.front();
    for (const PartHeads& part : parts.subspan(1)) {
        for (std::size_t i = 0; i < all.profile.size(); ++i)
            all.profile[i] += part.profile[i];
        for (std::size_t i = 0; i < all.counts.size(); ++i) {
            const double a = double{all.counts[i]}, b = double{part.counts[i]};
            all.counts[i] = static_cast<float>(std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))));
        }
    }
    return all;
}

}  // namespace bigbird::networks
