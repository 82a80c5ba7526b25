// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/deepsea_cnn.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/modules/conv.h>

#include <array>

namespace bigbird::baselines {

namespace {

constexpr std::array<std::int64_t, 4> channels{4, 320, 480, 960};
constexpr std::array<double, 3> dropout_rates{0.2, 0.2, 0.5};
constexpr std::int64_t width = 8, pool = 4, hidden = 925;

/// Number of positions after all convolutions and poolings of `length` bases.
std::int64_t places(std::int64_t length) {
    const std::int64_t after = width - 1;
    return ((length - after) / pool - after) / pool - after;
}

class DeepSea : public BaseNetworkImpl {
public:
    DeepSea(std::int64_t length, std::int64_t labels)
        : dense_(channels.back() * places(length), hidden), output_(hidden, labels) {
        for (std::size_t i = 0; i + 1 < channels.size(); ++i) {
            convolutions_.emplace_back(torch::nn::Conv1dOptions(channels[i], channels[i + 1], width));
            register_module("convolution" + std::to_string(i + 1), convolutions_.back());
        }
        register_module("dense", dense_);
        register_module("output", output_);
    }
    at::Tensor forward(const at::Tensor& bases, const model::DropoutKey& key) override {
        at::Tensor x = one_hot_bases(bases);
        for (std::size_t i = 0; i < convolutions_.size(); ++i) {
            x = convolutions_[i]->forward(x).relu();
            if (i + 1 < convolutions_.size()) x = at::max_pool1d(x, pool);
            if (is_training()) {
                x = model::dropout(x, dropout_rates[i], key,
                                   {model::DropoutSite::Place::output, static_cast<std::int64_t>(i)});
            }
        }
        return output_->forward(dense_->forward(x.flatten(1)).relu());
    }

private:
    std::vector<torch::nn::Conv1d> convolutions_;
    model::Linear dense_, output_;
};

}  // namespace

BaseNetwork make_deepsea(std::int64_t length, std::int64_t labels) {
    return std::make_shared<DeepSea>(length, labels);
}

}  // namespace bigbird::baselines
