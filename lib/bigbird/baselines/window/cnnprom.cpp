// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/cnnprom.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/modules/conv.h>

#include <algorithm>

namespace bigbird::baselines {

namespace {

constexpr std::int64_t filters = 300, width = 21, pool = 231, hidden = 128;

class CnnProm : public BaseNetworkImpl {
public:
    CnnProm(std::int64_t length, std::int64_t labels)
        : places_(std::min(pool, length - width + 1)),
          convolution_(torch::nn::Conv1dOptions(4, filters, width)),
          dense_(filters * ((length - width + 1) / places_), hidden),
          output_(hidden, labels) {
        register_module("convolution", convolution_);
        register_module("dense", dense_);
        register_module("output", output_);
    }
    at::Tensor forward(const at::Tensor& bases, const model::DropoutKey&) override {
        at::Tensor x = convolution_->forward(one_hot_bases(bases)).relu();  // (batch, filters, length - 20)
        x = at::max_pool1d(x, places_).flatten(1);
        return output_->forward(dense_->forward(x).relu());
    }

private:
    std::int64_t places_;
    torch::nn::Conv1d convolution_;
    model::Linear dense_, output_;
};

}  // namespace

BaseNetwork make_cnnprom(std::int64_t length, std::int64_t labels) {
    return std::make_shared<CnnProm>(length, labels);
}

}  // namespace bigbird::baselines
