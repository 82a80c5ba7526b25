// SPDX-License-Identifier: Apache-2.0
// BigBird as the network of a task. Its head reads the complete window, each bin of it, or each token.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/tasks/task_network.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <memory>
#include <span>
#include <string>

namespace bigbird::tasks {

/// The hidden states of the last layer that the head reads. cls: [CLS], as in the paper and transformers.
/// mean: the mean over all tokens. centre: the mean over the tokens of the anchor, the 200 bases around the
/// window's base 0 (the bin, the TSS); these tokens have token type 1. transformers does not know mean and
/// centre: it computes other logits for such models.
enum class Pooling : std::uint8_t { cls, mean, centre };
/// The values of finetune's --pooling.
inline constexpr Choices<Pooling, 3> pooling_choices{
    {{Pooling::cls, "cls"}, {Pooling::mean, "mean"}, {Pooling::centre, "centre"}}};

/// Logits of one batch, (batch, labels), in the network's current mode (training or evaluation). The encoder
/// computes in `compute`, the head in float32.
at::Tensor pooled_logits(model::SequenceClassifier network, const model::EncoderInput& input, Pooling pooling,
                         const model::DropoutKey& key = {},
                         training::ComputeType compute = training::ComputeType::fp32);

/// The batch input of the sequences that `indices` selects. Requires equal block counts.
model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device);

/// Maximum number of tokens in a window, including [CLS] and [SEP]: the complete blocks that fit into the
/// positions.
std::int64_t max_tokens(const model::BigBirdConfig& config);

/// The weight of each token in each bin: (grid.window_bins, length) float32. It is the share of the bin's
/// covered bases that the token covers. Rows sum to 1. The row of a bin without covered bases (outer runs of
/// N, tokens beyond the positions) is 0. `length` is at least the number of spans.
at::Tensor bin_weights(std::span<const TokenSpan> spans, const bins::Grid& grid, std::int64_t length);

/// The maximum number of bins of `bin` bases whose tokens fit into `positions`, including [CLS] and [SEP]. It
/// is computed from the sample with the most tokens per base. Throws ConfigError if no bin fits, InputError
/// without samples.
std::int64_t fitting_bins(std::span<const std::string> samples, const tokenizer::DnaTokenizer& tokenizer,
                          std::int64_t bin, std::int64_t positions);

/// What each of these networks is, too: one that can be evaluated on given token vectors.
class TokenVectors {
public:
    virtual ~TokenVectors() = default;
    /// The word embeddings of a window's ids: (ids, hidden) float32.
    virtual at::Tensor word_vectors(const EncodedWindow& window) const = 0;
    /// Logits, (batch, segments, labels), with the word embeddings replaced by `vectors`, (batch, ids,
    /// hidden). They have gradients if gradients are enabled.
    virtual at::Tensor vector_logits(const EncodedWindow& window, const at::Tensor& vectors) const = 0;
};

/// Networks must already be on their device. A window is one segment; `window` gives the anchor's position.
std::shared_ptr<TaskNetwork> bigbird_windows(model::SequenceClassifier network,
                                             tokenizer::DnaTokenizer tokenizer, Pooling pooling,
                                             const rows::WindowBounds& window,
                                             const ComputeOptions& computing);
/// Uses the head "bins". A bin's features are the mean of the last layer over the bin's bases; each base has
/// the hidden state of its token. Throws ConfigError if the grid is not valid.
std::shared_ptr<BinNetwork> bigbird_bins(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                                         const bins::Grid& grid, const ComputeOptions& computing);
/// Uses the head "tokens" (BigBirdForTokenClassification). Each base has the logits of its token.
std::shared_ptr<TaskNetwork> bigbird_tokens(model::SequenceClassifier network,
                                            tokenizer::DnaTokenizer tokenizer,
                                            const ComputeOptions& computing);

}  // namespace bigbird::tasks
