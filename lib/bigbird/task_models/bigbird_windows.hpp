// SPDX-License-Identifier: Apache-2.0
// BigBird as a network over windows.
#pragma once

#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/windows/window_network.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <memory>
#include <span>
#include <string>

namespace bigbird::task_models {

/// What of the last layer the head sees: [CLS], as in the paper and transformers; the mean over all tokens;
/// or the mean over the tokens of the anchor, the 200 bases about the window's base 0 (the bin, the TSS),
/// which then have token type 1. transformers cannot know the last two: a model with them gives other logits
/// there.
enum class Pooling : std::uint8_t { cls, mean, centre };
/// "cls", "mean", "centre". Throws ConfigError.
Pooling parse_pooling(const std::string& word);
std::string to_string(Pooling pooling);

/// (batch, labels) logits of one batch, in the network's present mode. The encoder computes in `compute`, the
/// head in float32.
at::Tensor pooled_logits(model::SequenceClassifier& network, const model::EncoderInput& input,
                         Pooling pooling, const model::DropoutKey& key = {},
                         training::ComputeType compute = training::ComputeType::fp32);

/// The sequences that `indices` chooses, as a batch's input. Expects equal block counts.
model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device);

/// The tokens that a window may have, [CLS] and [SEP] included: whole blocks within the positions.
std::int64_t max_tokens(const model::BigBirdConfig& config);

struct BigBirdReading {
    Pooling pooling = Pooling::cls;
    rows::WindowBounds window{-4000, 4000};  ///< says where the anchor is
    Computing computing = {};
};
/// The network is on the device already.
std::shared_ptr<WindowNetwork> bigbird_windows(model::SequenceClassifier network,
                                               tokenizer::DnaTokenizer tokenizer,
                                               const BigBirdReading& reading, const at::Device& device);

}  // namespace bigbird::task_models
