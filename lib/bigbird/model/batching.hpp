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

/// Pads sequences of equal block count to full blocks and moves them to the device. Expects (check.hpp) equal
/// block counts.
EncoderInput make_input(std::span<const TokenSequence> sequences, const BigBirdConfig& config,
                        const at::Device& device);

/// Sizes that groups may have. oneDNN compiles and keeps a kernel of 0.25 MB for every shape, and the size of
/// the last group differs from call to call. `few` cuts the leftover members into groups of 1, 2, 4, 8 …, so
/// that memory stays constant over calls. `equal` has groups of one size for each length, about 512 tokens,
/// the last filled up by repeating its last member. Rounding in products depends on the number of rows, so
/// only then is a sequence's result independent of the number of others.
enum class GroupSizes : std::uint8_t { any, few, equal };

/// Group sizes for scoring. On a CPU equal: more tokens at once are not faster there. On a GPU few.
GroupSizes sizes_for_scores(const at::Device& device);

/// Cuts members, in order, into groups of `most` and a last, smaller group (`equal`: filled up).
std::vector<std::vector<std::size_t>> cut_into_groups(std::span<const std::size_t> members, std::size_t most,
                                                      GroupSizes sizes);
/// The number of members, of `tokens_each` padded tokens each, that fit in a group: at least one.
std::size_t members_per_group(std::int64_t tokens_each, std::int64_t max_tokens, GroupSizes sizes);

/// Groups indices by block count, in order within a group, with at most `max_tokens` padded tokens per group
/// (but at least one sequence).
std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const TokenSequence> sequences,
                                                      int block_size, std::int64_t max_tokens,
                                                      GroupSizes sizes = GroupSizes::any);
/// The same from the sequences' lengths in tokens.
std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const std::int64_t> lengths, int block_size,
                                                      std::int64_t max_tokens,
                                                      GroupSizes sizes = GroupSizes::any);

}  // namespace bigbird::model
