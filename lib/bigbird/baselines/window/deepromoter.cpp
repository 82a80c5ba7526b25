// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/deepromoter.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/rnn.h>

#include <array>

namespace bigbird::baselines {

namespace {

constexpr std::array<std::int64_t, 3> widths{27, 14, 7};
constexpr std::int64_t filters = 32, pool = 6, units = 32, hidden = 128;
constexpr double dropout_rate = 0.5;

class DeePromoter : public BaseNetworkImpl {
public:
    DeePromoter(std::int64_t length, std::int64_t labels)
        : lstm_(torch::nn::LSTMOptions(filters * std::ssize(widths), units)
                    .batch_first(true)
                    .bidirectional(true)),
          dense_(2 * units * (length / pool), hidden),
          output_(hidden, labels) {
        for (const std::int64_t width : widths) {
            convolutions_.emplace_back(torch::nn::Conv1dOptions(4, filters, width));
            register_module("convolution" + std::to_string(width), convolutions_.back());
        }
        register_module("lstm", lstm_);
        register_module("dense", dense_);
        register_module("output", output_);
    }
    at::Tensor forward(const at::Tensor& bases, const model::DropoutKey& key) override {
        const auto drop = [&](const at::Tensor& x, std::int64_t layer) {
            return is_training()
                       ? model::dropout(x, dropout_rate, key, {model::DropoutSite::Place::output, layer})
                       : x;
        };
        const at::Tensor encoded = one_hot_bases(bases);
        std::vector<at::Tensor> channels;
        for (std::size_t i = 0; i < convolutions_.size(); ++i) {
            // "same" padding computed here, because PyTorch's warns about even widths.
            const std::int64_t left = (widths[i] - 1) / 2, right = widths[i] - 1 - left;
            const at::Tensor padded = at::constant_pad_nd(encoded, {left, right});
            const at::Tensor pooled = at::max_pool1d(convolutions_[i]->forward(padded).relu(), pool);
            channels.push_back(drop(pooled, static_cast<std::int64_t>(i)));  // (batch, filters, length / 6)
        }
        at::Tensor x = at::cat(channels, 1).transpose(1, 2);  // (batch, length / 6, 3 * filters)
        x = std::get<0>(lstm_->forward(x)).flatten(1);
        x = drop(dense_->forward(x).relu(), std::ssize(widths));
        return output_->forward(x);
    }

private:
    std::vector<torch::nn::Conv1d> convolutions_;
    torch::nn::LSTM lstm_;
    model::Linear dense_, output_;
};

}  // namespace

BaseNetwork make_deepromoter(std::int64_t length, std::int64_t labels) {
    return std::make_shared<DeePromoter>(length, labels);
}

}  // namespace bigbird::baselines
