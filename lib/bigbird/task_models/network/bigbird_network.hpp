// SPDX-License-Identifier: Apache-2.0
// BigBird as the network of a task: its head sees the window, each bin of it, or each token.
#pragma once

#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/network/job.hpp"
#include "bigbird/task_models/network/task_network.hpp"
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
at::Tensor pooled_logits(model::SequenceClassifier network, const model::EncoderInput& input, Pooling pooling,
                         const model::DropoutKey& key = {},
                         training::ComputeType compute = training::ComputeType::fp32);

/// The sequences that `indices` chooses, as a batch's input. Expects equal block counts.
model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device);

/// The tokens that a window may have, [CLS] and [SEP] included: whole blocks within the positions.
std::int64_t max_tokens(const model::BigBirdConfig& config);

/// (grid.window_bins, length) float32: the weight of each id in each bin, which is the share of the bin's
/// spelt bases that the id spells. Rows sum to 1; rows of bins of which nothing is spelt (outer runs of N,
/// pieces beyond the positions) are 0. `length` is at least the number of spans.
at::Tensor bin_weights(std::span<const TokenSpan> spans, const bins::Grid& grid, std::int64_t length);

/// The most bins of `bin` bases whose tokens fit into `positions` ([CLS] and [SEP] included), by the densest
/// of `samples`. Throws ConfigError where no bin fits, InputError without samples.
std::int64_t fitting_bins(std::span<const std::string> samples, const tokenizer::DnaTokenizer& tokenizer,
                          std::int64_t bin, std::int64_t positions);

struct BigBirdReading {
    Pooling pooling = Pooling::cls;
    rows::WindowBounds window{-4000, 4000};  ///< says where the anchor is
    Computing computing = {};
};
/// A network of windows as a function of its tokens' vectors.
class TokenWindows : public TaskNetwork {
public:
    /// (ids, hidden) float32: the word embeddings of a window's ids.
    virtual at::Tensor word_vectors(const EncodedWindow& window) const = 0;
    /// (batch, labels) logits of the window with these vectors instead, (batch, ids, hidden), with gradients
    /// where they are on.
    virtual at::Tensor vector_logits(const EncodedWindow& window, const at::Tensor& vectors) const = 0;
};

/// Networks are on their device already. A window is one segment.
std::shared_ptr<TaskNetwork> bigbird_windows(model::SequenceClassifier network,
                                             tokenizer::DnaTokenizer tokenizer,
                                             const BigBirdReading& reading);
/// With the head "bins": what it sees of a bin is the mean of the last layer over the bin's bases, each with
/// the hidden state of its token. Throws ConfigError where the grid is not valid.
std::shared_ptr<BinNetwork> bigbird_bins(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                                         const bins::Grid& grid, const Computing& computing);
/// With the head "tokens" (BigBirdForTokenClassification): a base has the logits of its token.
std::shared_ptr<TaskNetwork> bigbird_tokens(model::SequenceClassifier network,
                                            tokenizer::DnaTokenizer tokenizer, const Computing& computing);

}  // namespace bigbird::task_models
