// SPDX-License-Identifier: Apache-2.0
// Steps that a pass over a whole window and one over its changed positions share.
#pragma once

#include "bigbird/networks/profiles/window_pass.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bigbird::networks {

/// Layer `layer` at pairs; row_of(position): where a position's row goes, null if it is not wanted.
void convolve_pairs(const PackedPart& part, std::size_t layer, std::span<const std::int64_t> pairs,
                    const RowTable& from, const std::function<float*(std::int64_t)>& row_of, Crew& crew);

/// The mean of the counts' positions is a sum of blocks, in order.
std::int64_t count_blocks(const PackedPart& part);
/// The block that holds a position, or -1.
std::int64_t count_block_of(const PackedPart& part, std::int64_t position);
void sum_count_block(const PackedPart& part, const RowTable& trunk, std::int64_t block, float* to);
/// Log counts from the blocks' sums.
std::vector<float> counts_of(const PackedPart& part, std::span<const float* const> sums);

/// The profile's products at positions, which go to rows from `to` on.
void multiply_positions(const PackedPart& part, const RowTable& trunk,
                        std::span<const std::int64_t> positions, float* to, RowTable& products, Crew& crew);
/// Logits (output, columns) from the products.
std::vector<float> profile_of(const PackedPart& part, const RowTable& products, Crew& crew);

}  // namespace bigbird::networks
