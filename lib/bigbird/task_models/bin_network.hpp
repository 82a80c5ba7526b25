// SPDX-License-Identifier: Apache-2.0
// What every model of bins is to training and prediction: a window of DNA in, the logits of all its bins out.
// bigbird-bins reads windows as bases (base_bins), BigBird with --head bins as tokens (token_bins).
#pragma once

#include "bigbird/bins/grid.hpp"
#include "bigbird/bins/own_motifs.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/task_models/windows/window_encoder.hpp"

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

struct TaskInfo;

class BinNetwork {
public:
    virtual ~BinNetwork() = default;

    /// Its parameters are the model's; train() and eval() of it choose whether there is dropout.
    virtual std::shared_ptr<torch::nn::Module> module() const = 0;
    /// The parameters that every loss depends on.
    virtual std::vector<at::Tensor> trained_parameters() const = 0;
    /// (labels) of the last layer, added to the logits as it is.
    virtual at::Tensor output_bias() const = 0;
    /// (channels, 4, width) of a first convolution over bases; undefined where there is none.
    virtual at::Tensor first_filters() const { return {}; }
    /// Parameters of the first filters' way to the head; undefined where there is none.
    virtual bins::OwnMotifs own_motifs() const { return {}; }
    virtual std::int64_t labels() const = 0;
    /// The encoder's part of features(), which comes first.
    virtual std::int64_t hidden_size() const = 0;
    virtual at::Device device() const = 0;

    virtual bins::Grid grid() const = 0;
    /// What the encoder takes of a window, at most.
    virtual std::int64_t window_positions() const = 0;
    /// grid().window_bases() letters of normalised sequence as the network reads them. Thread-safe.
    virtual EncodedWindow encode(std::string_view dna) const = 0;
    /// Networks of equal keys encode every window alike.
    virtual std::string encoding_key() const = 0;

    /// (windows, window_bins, hidden_size or more) float32: what the head sees of each bin; in the module's
    /// present mode, with gradients where they are on. `key` holds a sample a window (used in training mode
    /// alone).
    virtual at::Tensor features(std::span<const EncodedWindow> windows,
                                const model::DropoutKey& key = {}) const = 0;
    /// Their logits, (windows, window_bins, labels) float32.
    virtual at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key = {}) const = 0;
    at::Tensor logits(std::span<const EncodedWindow> windows, const model::DropoutKey& key = {}) const {
        return predict(features(windows, key), key);
    }

    /// A network of its own with the same weights, on the same device.
    virtual std::shared_ptr<BinNetwork> copy() const = 0;
    /// config.json, model.safetensors and what else it reads by, into an existing folder. Throws WriteError.
    virtual void write(const TaskInfo& info, const std::filesystem::path& directory) const = 0;
};

}  // namespace bigbird::task_models
