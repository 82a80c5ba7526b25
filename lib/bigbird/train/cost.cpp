// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/cost.hpp"

#include <algorithm>

namespace bigbird::train {

std::int64_t parameter_count(const model::BigBirdConfig& config) {
    const std::int64_t hidden = config.hidden_size, wide = config.intermediate_size;
    const std::int64_t norm = 2 * hidden, square = hidden * hidden + hidden;
    const std::int64_t query_key_value = 3 * (hidden * hidden + (config.use_bias ? hidden : 0));
    const std::int64_t layer = query_key_value + square + norm +                      // attention
                               hidden * wide + wide + wide * hidden + hidden + norm;  // feed-forward
    const std::int64_t embeddings =
        (config.vocab_size + config.max_position_embeddings + config.type_vocab_size) * hidden + norm;
    const std::int64_t heads = square + norm + config.vocab_size + 2 * hidden + 2;
    return embeddings + config.num_hidden_layers * layer + square + heads;  // square: the pooler
}

double attended_keys(const model::BigBirdConfig& config, std::int64_t blocks) {
    const attention::PatternSpec& pattern = config.pattern;
    const auto all = static_cast<double>(blocks);
    if (pattern.is_full(static_cast<int>(blocks))) {
        return all * pattern.block_size;
    }
    const double global = pattern.global_blocks;
    const double row =
        std::min<double>(all, pattern.global_blocks + pattern.window_blocks + pattern.random_blocks);
    return (global * all + (all - global) * row) / all * pattern.block_size;
}

double forward_operations(const model::BigBirdConfig& config, std::int64_t blocks, std::int64_t tokens,
                          std::int64_t masked) {
    const auto hidden = static_cast<double>(config.hidden_size);
    const auto wide = static_cast<double>(config.intermediate_size);
    const double token = 8 * hidden * hidden + 4 * hidden * wide + 4 * hidden * attended_keys(config, blocks);
    const double prediction = 2 * hidden * hidden + 2 * hidden * static_cast<double>(config.vocab_size);
    return static_cast<double>(config.num_hidden_layers) * token * static_cast<double>(tokens) +
           prediction * static_cast<double>(masked);
}

std::int64_t state_bytes(const model::BigBirdConfig& config) {
    return 16 * parameter_count(config);
}

// A layer keeps about: its input, query, key, value, the context, what dropout and the two norms take (8
// hidden), the feed-forward's inner values before and after the activation (2 wide).
double activation_bytes(const model::BigBirdConfig& config, std::int64_t tokens, int width, bool recompute) {
    const double layer =
        8.0 * static_cast<double>(config.hidden_size) + 2.0 * static_cast<double>(config.intermediate_size);
    const auto layers = static_cast<double>(config.num_hidden_layers);
    const double elements =
        recompute ? layers * static_cast<double>(config.hidden_size) + layer : layers * layer;
    return elements * width * static_cast<double>(tokens);
}

}  // namespace bigbird::train
