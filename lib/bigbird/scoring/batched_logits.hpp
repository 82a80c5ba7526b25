// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/model/batching.hpp"

#include <functional>
#include <span>
#include <string>

namespace bigbird::scoring {

/// What of the last layer the head sees: [CLS], as in the paper and transformers, or the mean over all tokens
/// (transformers cannot know it: a model with `mean` gives other logits there).
enum class Pooling : std::uint8_t { cls, mean };
/// "cls", "mean". Throws ConfigError.
Pooling parse_pooling(const std::string& word);
std::string to_string(Pooling pooling);

/// (batch, labels) logits of one batch, in the network's present mode.
at::Tensor pooled_logits(model::SequenceClassifier& network, const model::EncoderInput& input,
                         Pooling pooling, const model::DropoutKey& key = {});

/// Logits of sequences, in their order: (sequences, labels) float32 on the CPU. Runs the network in
/// evaluation mode, without gradients, in batches of equal block counts and at most `batch_tokens` padded
/// tokens, so that a sequence's logits do not depend on the others. `after_batch` (may be empty) is told how
/// many sequences each batch held. Throws Stopped between batches where a signal came in.
at::Tensor batched_logits(model::SequenceClassifier& network, Pooling pooling,
                          std::span<const model::TokenSequence> sequences, const at::Device& device,
                          std::int64_t batch_tokens,
                          const std::function<void(std::int64_t)>& after_batch = {});

/// The sequences that `indices` chooses, as a batch's input. Expects equal block counts.
model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device);

}  // namespace bigbird::scoring
