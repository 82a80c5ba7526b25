// SPDX-License-Identifier: Apache-2.0
// Pretraining examples as tensors, in micro-batches.
#pragma once

#include "bigbird/corpus/example_stream.hpp"
#include "bigbird/model/bigbird.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::train {

/// Examples of equal block count, computed at once.
struct MlmBatch {
    model::EncoderInput input;
    at::Tensor positions;               // (masked) int64 into batch * length
    at::Tensor labels;                  // (masked) int64, the original ids
    at::Tensor next_sentence;           // (batch) int64, or undefined without NSP
    std::vector<std::size_t> examples;  ///< (batch) which of the examples given, in the order of the rows
    std::int64_t first_sample = 0;      ///< of the global batch; does not depend on how it is cut
};

/// What a step's loss is normalised by.
struct GlobalBatch {
    std::vector<MlmBatch> parts;
    std::int64_t sequences = 0, tokens = 0, masked = 0;  ///< tokens: without padding
};

/// Cuts examples into micro-batches of at most `max_tokens` padded tokens (at least one sequence) on the
/// device.
GlobalBatch make_global_batch(std::span<const corpus::Example> examples, const model::BigBirdConfig& config,
                              std::int64_t max_tokens, const at::Device& device);

}  // namespace bigbird::train
