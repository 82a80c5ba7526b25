// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/cost.hpp"

#include <algorithm>

namespace bigbird::pretraining {

namespace {

bool is_gated(const model::BigBirdConfig& config) {
    return config.form.feed_forward == model::FeedForward::gated;
}

/// Counts full blocks, over all layers and heads; global tokens attend all keys.
double longformer_keys(const model::LongformerForm& form, std::int64_t block, std::int64_t blocks) {
    const std::int64_t globals = form.global_tokens.value_or(0), front = (globals + block - 1) / block;
    double pairs = 0, rows = 0;
    for (std::size_t layer = 0; layer < form.windows.size(); ++layer) {
        for (const std::int64_t dilation : form.dilations[layer]) {
            const std::int64_t reach = (form.windows[layer] / 2 * dilation + block - 1) / block;
            pairs += static_cast<double>(front + std::min(blocks, 2 * reach + 1));
            ++rows;
        }
    }
    return pairs / rows * static_cast<double>(block) + static_cast<double>(globals);
}

constexpr double program_bytes = 180e6;       // bytes of a process that has loaded LibTorch
constexpr double heap_slack = 1.25;           // what malloc keeps of freed tensors; see keep_little_memory()
constexpr double most_logits = 1 << 25;       // logits per chunk of the loss (model/linear_cross_entropy)
constexpr double copies_of_logits = 4 * 4.0;  // logits, their gradient and two temporaries, float32

/// Bytes that a layer keeps per token: its input, query, key, value, the context, the inputs of the two norms
/// (8 hidden), and the feed-forward's inner values before and after the activation (2 wide). With bfloat16
/// the residual stream stays float32, and each product keeps its own copy. A Performer keeps the features of
/// query and key, and query, key, value, their scaled copies and the sums, float32; a Longformer the keys and
/// values that its global tokens see.
double layer_bytes(const model::BigBirdConfig& config, const MemoryLoad& load, std::int64_t length) {
    const auto hidden = static_cast<double>(config.hidden_size);
    const auto wide = static_cast<double>(config.intermediate_size) * (is_gated(config) ? 2 : 1);
    const bool full = !config.performer && !config.longformer &&
                      config.pattern.is_full(static_cast<int>(length / config.pattern.block_size));
    const double probabilities = full && config.attention_probs_dropout_prob > 0
                                     ? 3.0 * static_cast<double>(config.num_attention_heads * length)
                                     : 0;
    const double features =
        config.performer
            ? 4 * (2.0 * static_cast<double>(config.num_attention_heads * config.performer->features) +
                   6 * hidden)
            : 0;
    const double globals = config.longformer ? (load.bf16 ? 4 : 8) * hidden : 0;
    return features + globals +
           (load.bf16 ? 30 * hidden + 4 * wide + 2 * probabilities
                      : 4 * (8 * hidden + 2 * wide + probabilities));
}

}  // namespace

std::int64_t parameter_count(const model::BigBirdConfig& config) {
    const std::int64_t hidden = config.hidden_size, wide = config.intermediate_size;
    const std::int64_t norm = 2 * hidden, square = hidden * hidden + hidden;
    const std::int64_t query_key_value =
        (config.longformer ? 6 : 3) * (hidden * hidden + (config.use_bias ? hidden : 0));
    const std::int64_t into_wide = (is_gated(config) ? 2 : 1) * (hidden * wide + wide);
    const std::int64_t layer = query_key_value + square + norm +           // attention
                               into_wide + wide * hidden + hidden + norm;  // feed-forward
    const bool absolute = config.form.positions == model::Positions::absolute;
    const std::int64_t embeddings =
        (config.vocab_size + (absolute ? config.max_position_embeddings : 0) + config.type_vocab_size +
         config.extra_global_tokens + config.form.embedding_convolution) *
            hidden +
        norm + (config.form.norm == model::Norm::pre ? norm : 0);  // the last norm
    const std::int64_t heads = square + norm + config.vocab_size + 2 * hidden + 2;
    return embeddings + config.num_hidden_layers * layer + square + heads;  // square: the pooler
}

double attended_keys(const model::BigBirdConfig& config, std::int64_t blocks) {
    if (config.longformer) return longformer_keys(*config.longformer, config.pattern.block_size, blocks);
    // Two products for the features of a query and a key, two for their sums and the result.
    if (config.performer) return 2 * static_cast<double>(config.performer->features);
    const attention::PatternSpec& pattern = config.pattern;
    const auto all = static_cast<double>(blocks);
    if (pattern.is_full(static_cast<int>(blocks))) return all * pattern.block_size;
    const double global = pattern.global_blocks;
    const double row =
        std::min<double>(all, pattern.global_blocks + pattern.window_blocks + pattern.random_blocks);
    return (global * all + (all - global) * row) / all * pattern.block_size;
}

double forward_operations(const model::BigBirdConfig& config, std::int64_t blocks, std::int64_t tokens,
                          std::int64_t masked) {
    const auto hidden = static_cast<double>(config.hidden_size);
    const auto wide = static_cast<double>(config.intermediate_size);
    const std::int64_t block = config.pattern.block_size, front = config.front_tokens();
    const double computed =
        static_cast<double>(tokens) * (1 + static_cast<double>(front) / static_cast<double>(blocks * block));
    const double projections = config.longformer ? 12 : 8;  // two more: keys and values of global tokens
    const double token = projections * hidden * hidden + (is_gated(config) ? 6 : 4) * hidden * wide +
                         4 * hidden * attended_keys(config, blocks + front / block);
    const double prediction = 2 * hidden * hidden + 2 * hidden * static_cast<double>(config.vocab_size);
    return static_cast<double>(config.num_hidden_layers) * token * computed +
           prediction * static_cast<double>(masked);
}

std::int64_t state_bytes(const model::BigBirdConfig& config) {
    return 16 * parameter_count(config);
}

MemoryNeed memory_needed(const model::BigBirdConfig& config, const MemoryLoad& load) {
    const auto parameters = static_cast<double>(parameter_count(config));
    const std::int64_t length = load.length + config.front_tokens();
    const auto computed = static_cast<double>(load.sequences * length),
               tokens = static_cast<double>(load.sequences * load.length);
    const auto layers = static_cast<double>(config.num_hidden_layers);
    const double layer = layer_bytes(config, load, length);
    const double kept =
        load.recompute ? layers * 4 * static_cast<double>(config.hidden_size) + layer : layers * layer;
    const double logits =
        std::min(load.masked_share * tokens * static_cast<double>(config.vocab_size), most_logits);
    const double slack = load.on_cpu && !load.recompute ? heap_slack : 1;
    return {.program = load.on_cpu ? program_bytes : 0,
            .state = static_cast<double>(state_bytes(config)) + (load.several_ranks ? 4 * parameters : 0) +
                     (load.bf16 ? 2 * parameters : 0),
            .activations = slack * (kept * computed + copies_of_logits * logits)};
}

}  // namespace bigbird::pretraining
