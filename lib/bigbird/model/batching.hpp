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

/// How many members groups may have. oneDNN compiles and keeps a kernel of 0.25 MB for every shape that it
/// meets, and how many are left over for a last group differs from call to call: `few` cuts those that are
/// left over into groups of 1, 2, 4, 8 …, so that memory stays constant however many calls there are.
enum class GroupSizes : std::uint8_t { any, few };

/// Cuts members, in order, into groups of `most` and what is left over.
std::vector<std::vector<std::size_t>> cut_into_groups(std::span<const std::size_t> members, std::size_t most,
                                                      GroupSizes sizes);
/// Groups indices by block count, order kept inside a group, at most `max_tokens` padded tokens a group (at
/// least one sequence).
std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const TokenSequence> sequences,
                                                      int block_size, std::int64_t max_tokens,
                                                      GroupSizes sizes = GroupSizes::any);
/// The same from the sequences' lengths in tokens.
std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const std::int64_t> lengths, int block_size,
                                                      std::int64_t max_tokens,
                                                      GroupSizes sizes = GroupSizes::any);

}  // namespace bigbird::model
