// SPDX-License-Identifier: Apache-2.0
// BigBird of tokens as a model of bins (--head bins): what the head sees of a bin is the mean of the last
// layer over its bases, each with the hidden state of the token that spells it.
#pragma once

#include "bigbird/model/bigbird.hpp"
#include "bigbird/task_models/bin_network.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace bigbird::task_models {

/// (grid.window_bins, length) float32: what each of the window's ids spells of a bin's bases, as a part of
/// those that are spelt at all. Rows sum to 1; rows of bins of which nothing is spelt (outer runs of N,
/// pieces beyond the positions) are 0. `length` is at least the number of ids.
at::Tensor bin_weights(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer,
                       const bins::Grid& grid, std::int64_t length);

/// The network has the head "bins" and is on its device already. Throws ConfigError where the grid is not
/// valid.
std::shared_ptr<BinNetwork> token_bins(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                                       const bins::Grid& grid, const Computing& computing);

/// What write() of one left, in evaluation mode on the device. Throws InputError.
std::shared_ptr<BinNetwork> load_token_bins(const std::filesystem::path& directory, const TaskInfo& info,
                                            const at::Device& device, const Computing& computing);

/// The most bins of `bin` bases whose tokens fit into `positions` ([CLS] and [SEP] included), by the densest
/// of `samples`. Throws ConfigError where no bin fits, InputError without samples.
std::int64_t fitting_bins(std::span<const std::string> samples, const tokenizer::DnaTokenizer& tokenizer,
                          std::int64_t bin, std::int64_t positions);

}  // namespace bigbird::task_models
