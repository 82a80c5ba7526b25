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
/// left over into groups of 1, 2, 4, 8 …, so that memory stays constant however many calls there are. `equal`
/// has groups of one size for each length, some 512 tokens, the last filled up by naming its last member
/// again: products round by how many rows they have, so that only then a sequence's result does not depend on
/// how many others there are.
enum class GroupSizes : std::uint8_t { any, few, equal };

/// For scores: equal on a CPU, where more tokens at once are no faster, few on a GPU.
GroupSizes sizes_for_scores(const at::Device& device);

/// Cuts members, in order, into groups of `most` and what is left over (`equal`: filled up).
std::vector<std::vector<std::size_t>> cut_into_groups(std::span<const std::size_t> members, std::size_t most,
                                                      GroupSizes sizes);
/// How many members of so many tokens (padded) make a group: at least one.
std::size_t members_a_group(std::int64_t tokens_each, std::int64_t max_tokens, GroupSizes sizes);

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
