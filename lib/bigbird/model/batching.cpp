// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/batching.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/model/device/device.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>

namespace bigbird::model {

namespace {

constexpr std::int64_t tokens_together = 512;

std::int64_t block_count(std::int64_t length, int block_size) {
    return std::max<std::int64_t>(1, attention::filled_blocks(length, block_size));
}

}  // namespace

EncoderInput make_input(std::span<const TokenSequence> sequences, const BigBirdConfig& config,
                        const at::Device& device) {
    BIGBIRD_EXPECTS(!sequences.empty(), "a batch holds at least one sequence");
    const std::int64_t blocks = block_count(std::ssize(sequences.front().ids), config.pattern.block_size);
    const std::int64_t length = blocks * config.pattern.block_size,
                       batch = static_cast<std::int64_t>(sequences.size());
    EncoderInput input{at::full({batch, length}, config.pad_token_id, at::kLong),
                       at::zeros({batch, length}, at::kLong), at::zeros({batch, length}, at::kBool)};
    for (std::int64_t row = 0; row < batch; ++row) {
        const TokenSequence& sequence = sequences[static_cast<std::size_t>(row)];
        if (std::ssize(sequence.ids) > config.positions()) {
            throw InputError("a sequence of " + std::to_string(sequence.ids.size()) +
                             " tokens is longer than the model's " + std::to_string(config.positions()) +
                             " positions");
        }
        BIGBIRD_EXPECTS(block_count(std::ssize(sequence.ids), config.pattern.block_size) == blocks,
                        "the sequences of a batch differ in their number of blocks");
        BIGBIRD_EXPECTS(sequence.types.empty() || sequence.types.size() == sequence.ids.size(),
                        "token types and ids differ in number");
        std::ranges::copy(sequence.ids, input.input_ids.mutable_data_ptr<std::int64_t>() + row * length);
        std::ranges::copy(sequence.types,
                          input.token_type_ids.mutable_data_ptr<std::int64_t>() + row * length);
        std::fill_n(input.attention_mask.mutable_data_ptr<bool>() + row * length, sequence.ids.size(), true);
    }
    return {copy_to_device(input.input_ids, device), copy_to_device(input.token_type_ids, device),
            copy_to_device(input.attention_mask, device)};
}

std::vector<std::vector<std::size_t>> cut_into_groups(std::span<const std::size_t> members, std::size_t most,
                                                      GroupSizes sizes) {
    std::vector<std::vector<std::size_t>> groups;
    while (!members.empty()) {
        std::size_t size = std::min(members.size(), most);
        if (sizes == GroupSizes::few && size < most) size = std::bit_floor(size);
        groups.emplace_back(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(size));
        members = members.subspan(size);
    }
    if (sizes == GroupSizes::equal && !groups.empty()) groups.back().resize(most, groups.back().back());
    return groups;
}

std::size_t members_per_group(std::int64_t tokens_each, std::int64_t max_tokens, GroupSizes sizes) {
    const std::int64_t tokens =
        sizes == GroupSizes::equal ? std::min(max_tokens, tokens_together) : max_tokens;
    return static_cast<std::size_t>(std::max<std::int64_t>(1, tokens / tokens_each));
}

GroupSizes sizes_for_scores(const at::Device& device) {
    return device.is_cpu() ? GroupSizes::equal : GroupSizes::few;
}

std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const TokenSequence> sequences,
                                                      int block_size, std::int64_t max_tokens,
                                                      GroupSizes sizes) {
    std::vector<std::int64_t> lengths;
    for (const TokenSequence& sequence : sequences)
        lengths.push_back(std::ssize(sequence.ids));
    return group_by_blocks(lengths, block_size, max_tokens, sizes);
}

std::vector<std::vector<std::size_t>> group_by_blocks(std::span<const std::int64_t> lengths, int block_size,
                                                      std::int64_t max_tokens, GroupSizes sizes) {
    std::map<std::int64_t, std::vector<std::size_t>> by_blocks;
    for (std::size_t i = 0; i < lengths.size(); ++i)
        by_blocks[block_count(lengths[i], block_size)].push_back(i);
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [blocks, members] : by_blocks) {
        const std::size_t most = members_per_group(blocks * block_size, max_tokens, sizes);
        std::ranges::move(cut_into_groups(members, most, sizes), std::back_inserter(groups));
    }
    return groups;
}

}  // namespace bigbird::model
