// SPDX-License-Identifier: Apache-2.0
// BigBirdForTokenClassification as a model of bases: a base has the probabilities of the token that spells
// it.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/score_calibration.hpp"
#include "bigbird/task_models/windows/window_encoder.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

/// What config.json says of it under bigbird_dna.task_model.
struct TokensInfo {
    std::int64_t window = 0;                   ///< bases that are read at once
    std::int64_t margin = 0;                   ///< of them, at each end, context alone in prediction
    std::vector<genome::Contig> contigs = {};  ///< of the genome it was trained on, at most the 100 longest
    Json training = Json::object();            ///< options and checksums of the run, for the record
    std::int64_t core() const { return window - 2 * margin; }
};
Json to_json(const TokensInfo& info);
/// Throws InputError where the folder holds no model of finetune-tokens.
TokensInfo read_tokens_info(const std::filesystem::path& directory);

/// Of each id of a window the bases that it spells, [begin, end) of the window; empty for [CLS] and [SEP].
struct TokenSpan {
    std::int64_t begin = 0, end = 0;
};
std::vector<TokenSpan> token_spans(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer);

/// (length, labels) float32: how many of the bases that each id spells have each label. `labels`: one a base
/// of the window, -1 where it does not count. `length` is at least the number of ids.
at::Tensor label_counts(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer,
                        std::span<const std::int32_t> labels, std::int64_t label_count, std::int64_t length);

class TokenLabeller {
public:
    /// The network has the head "tokens" and is on its device already.
    TokenLabeller(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                  const Computing& computing);

    model::SequenceClassifier& network() { return network_; }
    const tokenizer::DnaTokenizer& tokenizer() const { return tokenizer_; }
    std::int64_t labels() const { return network_->config().num_labels; }
    at::Device device() const { return device_; }
    /// (labels) of the last layer, added to the logits as it is.
    at::Tensor output_bias() const { return network_->named_parameters()["classifier.bias"]; }

    /// Normalised sequence as the network reads it; [CLS] [SEP] where it is all N. Thread-safe.
    EncodedWindow encode(std::string_view dna) const;
    /// Groups of equal block counts, at most `batch_tokens` padded tokens each.
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens) const;
    /// (group, padded length, labels) float32 logits of a group, in the network's present mode. `key` holds a
    /// sample a window (used in training mode alone).
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key = {});

private:
    model::SequenceClassifier network_;
    tokenizer::DnaTokenizer tokenizer_;
    Computing computing_;
    at::Device device_;
};

/// A model as prediction needs it, in evaluation mode.
struct LoadedLabeller {
    std::unique_ptr<TokenLabeller> labeller{};
    TokensInfo info{};
    rows::LabelTable labels{};                            ///< the first one is that of bases of no row
    std::string sha256;                                   ///< of its weights
    ScoreCalibration calibration{LinkFunction::softmax};  ///< of calibration.json
};
/// What finetune-tokens wrote (training::find_model). Throws InputError.
LoadedLabeller load_labeller(const std::filesystem::path& path, const at::Device& device,
                             const Computing& computing);

}  // namespace bigbird::task_models
