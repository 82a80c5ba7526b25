// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/mlm_batch.hpp"

#include "bigbird/model/batching.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/pretraining/masked/cost.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::pretraining {

namespace {

at::Tensor on_device(const std::vector<std::int64_t>& values, const at::Device& device) {
    return model::copy_to_device(at::tensor(values, at::kLong), device);
}

MlmBatch make_part(std::span<const corpus::Example> examples, std::vector<std::size_t> members,
                   const std::vector<model::TokenSequence>& sequences, const model::BigBirdConfig& config,
                   const at::Device& device) {
    std::vector<model::TokenSequence> rows;
    for (const std::size_t member : members)
        rows.push_back(sequences[member]);
    MlmBatch part;
    part.input = model::make_input(rows, config, device);
    const std::int64_t length = part.input.input_ids.size(1);
    std::vector<std::int64_t> positions, labels, repeats, next_sentence;
    std::int64_t row = 0;
    for (const std::size_t member : members) {
        const corpus::Example& example = examples[member];
        for (const std::int32_t position : example.masked_positions)
            positions.push_back(row * length + position);
        labels.insert(labels.end(), example.masked_labels.begin(), example.masked_labels.end());
        repeats.insert(repeats.end(), example.masked_repeats.begin(), example.masked_repeats.end());
        if (example.next_sentence >= 0) next_sentence.push_back(example.next_sentence);
        ++row;
    }
    part.positions = on_device(positions, device);
    part.labels = on_device(labels, device);
    if (std::ranges::find(repeats, 1) != repeats.end())
        part.repeats = on_device(repeats, device).to(at::kBool);
    if (next_sentence.size() == members.size()) part.next_sentence = on_device(next_sentence, device);
    part.examples = std::move(members);
    return part;
}

}  // namespace

GlobalBatch make_global_batch(std::span<const corpus::Example> examples, const model::BigBirdConfig& config,
                              std::int64_t max_tokens, const at::Device& device, std::int64_t first_sample) {
    std::vector<model::TokenSequence> sequences;
    GlobalBatch batch;
    for (const corpus::Example& example : examples) {
        sequences.push_back({example.ids, example.types});
        batch.tokens += static_cast<std::int64_t>(example.ids.size());
    }
    batch.sequences = static_cast<std::int64_t>(examples.size());
    const std::int64_t block = config.pattern.block_size;
    for (std::vector<std::size_t>& members :
         model::group_by_blocks(sequences, config.pattern.block_size, max_tokens)) {
        batch.parts.push_back(make_part(examples, std::move(members), sequences, config, device));
        MlmBatch& part = batch.parts.back();
        for (const std::size_t example : part.examples)
            part.samples.push_back(first_sample + static_cast<std::int64_t>(example));
        const std::int64_t padded = part.input.input_ids.numel();
        batch.padded_tokens += padded;
        batch.operations +=
            forward_operations(config, part.input.input_ids.size(1) / block, padded, part.labels.numel());
    }
    return batch;
}

at::Tensor with_whole_steps(const at::Tensor& positions) {
    constexpr std::int64_t step = 64;
    const std::int64_t count = positions.size(0), more = (step - count % step) % step;
    if (count == 0 || more == 0) return positions;
    return at::cat({positions, positions.narrow(0, count - 1, 1).expand({more})});
}

}  // namespace bigbird::pretraining
