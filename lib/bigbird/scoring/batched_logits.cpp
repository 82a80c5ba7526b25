// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/batched_logits.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"

#include <torch/nn.h>

namespace bigbird::scoring {

Pooling parse_pooling(const std::string& word) {
    if (word == "cls") return Pooling::cls;
    if (word == "mean") return Pooling::mean;
    throw ConfigError("--pooling is cls or mean, not '" + word + "'");
}

std::string to_string(Pooling pooling) {
    return pooling == Pooling::cls ? "cls" : "mean";
}

at::Tensor pooled_logits(model::SequenceClassifier& network, const model::EncoderInput& input,
                         Pooling pooling, const model::DropoutKey& key) {
    if (pooling == Pooling::cls) return network->forward(input, key);
    const at::Tensor hidden = network->encode(input, false, key).hidden;  // (batch, length, hidden)
    const at::Tensor weights =
        input.attention_mask.unsqueeze(2).to(hidden.scalar_type());                  // (batch, length, 1)
    const at::Tensor mean = (hidden * weights).sum(1, true) / weights.sum(1, true);  // (batch, 1, hidden)
    return network->predict(mean, key);  // the head takes the first position
}

model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device) {
    std::vector<model::TokenSequence> chosen;
    chosen.reserve(indices.size());
    for (const std::size_t index : indices) {
        chosen.push_back(sequences[index]);
    }
    return model::make_input(chosen, config, device);
}

at::Tensor batched_logits(model::SequenceClassifier& network, Pooling pooling,
                          std::span<const model::TokenSequence> sequences, const at::Device& device,
                          std::int64_t batch_tokens, const std::function<void(std::int64_t)>& after_batch) {
    const torch::NoGradGuard no_gradients;
    const model::BigBirdConfig& config = network->config();
    network->eval();
    at::Tensor logits = at::empty({static_cast<std::int64_t>(sequences.size()), config.num_labels});
    for (const auto& group : model::group_by_blocks(sequences, config.pattern.block_size, batch_tokens)) {
        stop_if_asked();
        const at::Tensor some =
            pooled_logits(network, gather_input(sequences, group, config, device), pooling);
        std::vector<std::int64_t> places(group.begin(), group.end());
        const at::Tensor rows = at::tensor(places, at::kLong);  // (batch)
        logits.index_copy_(0, rows, some.to(at::kCPU, at::kFloat));
        if (after_batch) after_batch(static_cast<std::int64_t>(group.size()));
    }
    return logits;  // (sequences, labels)
}

}  // namespace bigbird::scoring
