// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/model/bigbird.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::model {

/// One sequence's ids, [CLS] and [SEP] included, with its token types (empty: all 0).
struct TokenSequence {
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> types;
};

/// Pads sequences of equal block count to a whole number of blocks and moves them to the device. Expects
/// (check.hpp) equal block counts.
EncoderInput make_input(std::span<const TokenSequence> sequences, const BigBirdConfig& config,
                        const at::Device& device);

/// Groups indices by block count, order kept inside a group, at most `max_tokens` padded tokens a group (at
/// least one sequence).
std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const TokenSequence> sequences,
                                                      int block_size, std::int64_t max_tokens);
/// The same from the sequences' lengths in tokens.
std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const std::int64_t> lengths, int block_size,
                                                      std::int64_t max_tokens);

}  // namespace bigbird::model
