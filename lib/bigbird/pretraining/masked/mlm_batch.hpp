// SPDX-License-Identifier: Apache-2.0
// Pretraining examples as tensors, in micro-batches.
#pragma once

#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/model/bigbird.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::pretraining {

/// Examples of equal block count, computed at once.
struct MlmBatch {
    model::EncoderInput input;
    at::Tensor positions;               // (masked) int64 into batch * length
    at::Tensor labels;                  // (masked) int64, the original ids
    at::Tensor repeats;                 // (masked) bool: of a repeat; undefined where no token is marked
    at::Tensor next_sentence;           // (batch) int64, or undefined without NSP
    std::vector<std::size_t> examples;  ///< (batch) indices of the rows' examples in the given ones
    std::vector<std::int64_t>
        samples;  ///< (batch) their indices in the global batch, independent of how it is divided
};

/// A step's examples, or one rank's share of them.
struct GlobalBatch {
    std::vector<MlmBatch> parts;
    std::int64_t sequences = 0, tokens = 0, padded_tokens = 0;  ///< tokens: without padding
    double weight = 0;        ///< sum of the masked tokens' weights in the loss; the caller sets these three
    std::int64_t hidden = 0;  ///< masked tokens that the network sees as [MASK]
    std::int64_t hidden_bases = 0;  ///< bases of those tokens
    double operations = 0;          ///< operations of a forward pass (cost.hpp)
};

/// Divides examples into micro-batches of at most `max_tokens` padded tokens (at least one sequence) on the
/// device. `first_sample`: the first example's index in the global batch.
GlobalBatch make_global_batch(std::span<const corpus::Example> examples, const model::BigBirdConfig& config,
                              std::int64_t max_tokens, const at::Device& device,
                              std::int64_t first_sample = 0);

/// Positions (masked), padded to a multiple of 64 by repeating the last one. The number of rows then has few
/// values; oneDNN generates and caches code for each value.
at::Tensor with_whole_steps(const at::Tensor& positions);

}  // namespace bigbird::pretraining
