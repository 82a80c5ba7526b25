// SPDX-License-Identifier: Apache-2.0
// What every model of a task is to training and prediction: windows of DNA in, logits out. BigBird reads them
// as tokens, the paper's convolutional baselines as bases, linear models as k-mers.
#pragma once

#include "bigbird/model/batching.hpp"
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

class WindowNetwork {
public:
    virtual ~WindowNetwork() = default;

    /// Its parameters are the model's; train() and eval() of it choose whether there is dropout.
    virtual torch::nn::Module& module() = 0;
    /// The parameters that every loss depends on.
    virtual std::vector<at::Tensor> trained_parameters() = 0;
    /// (labels) of the last layer, added to the logits as it is.
    virtual at::Tensor output_bias() = 0;
    virtual std::int64_t labels() const = 0;
    virtual at::Device device() const = 0;

    /// A window of normalised sequence as this network reads it, or its reverse complement; without ids where
    /// it is all N. Thread-safe.
    virtual EncodedWindow encode(std::string_view dna, bool reverse) const = 0;
    /// Networks of equal keys encode every window alike.
    virtual std::string encoding_key() const = 0;
    /// Indices of windows that may go through the network together, at most `batch_tokens` ids a group (at
    /// least one window). How windows are grouped changes no window's logits. A group may name its last
    /// window several times, which fills it up.
    virtual std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                        std::int64_t batch_tokens,
                                                        model::GroupSizes sizes) const = 0;
    /// (group, labels) logits of windows[group[0]], …, on the device; in the module's present mode, with
    /// gradients where they are on. `key` holds a sample a window (used in training mode alone).
    virtual at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                              const model::DropoutKey& key) = 0;
    /// config.json, model.safetensors and what else it reads by, into an existing folder.
    virtual void write(const std::filesystem::path& directory) const = 0;
};

}  // namespace bigbird::task_models
