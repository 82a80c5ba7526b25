// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/architecture.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/rnn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace bigbird::baselines {

namespace {

constexpr std::int64_t gates = 4;  // gates of an LSTM

std::int64_t inputs_of(const std::string& name, const at::Tensor& parameter,
                       const torch::OrderedDict<std::string, at::Tensor>& all) {
    if (name.find("_l0") != std::string::npos) return parameter.size(0) / gates;
    if (parameter.dim() > 1) return parameter.numel() / parameter.size(0);
    const at::Tensor& weight = all[name.substr(0, name.rfind('.')) + ".weight"];
    return weight.numel() / weight.size(0);
}

/// Fills every parameter uniformly in +-1 / sqrt(inputs of its layer), PyTorch's default (LSTM: of its hidden
/// units), as a function only of the seed and the parameter's name.
void initialise_uniformly(torch::nn::Module& module, std::uint64_t seed) {
    const at::NoGradGuard no_gradients;
    const Rng stream = Rng(seed).split("initialise");
    auto parameters = module.named_parameters();
    for (auto& item : parameters) {
        const double bound =
            1 / std::sqrt(static_cast<double>(inputs_of(item.key(), item.value(), parameters)));
        at::Tensor values = at::empty(item.value().sizes(), at::kFloat);
        Rng rng = stream.split(item.key());
        for (float& value :
             std::span(values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())))
            value = static_cast<float>(bound * (2 * rng.uniform() - 1));
        item.value().copy_(values);
    }
}

/// CNNProm (Umarov and Solovyev 2017): its network for human non-TATA promoters. One convolution of 300
/// filters of 21 bases with ReLU, max-pooling over 231 positions (all of them in its windows of 251 bases,
/// -200:51), 128 hidden units with ReLU.
class CnnProm : public BaseNetworkImpl {
    static constexpr std::int64_t filters = 300, width = 21, pool = 231, hidden = 128;

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

/// DeePromoter (Oubounyt et al. 2019): three parallel convolutions of 27, 14 and 7 bases, each with ReLU,
/// max-pooling over 6 and dropout 0.5. Then a bidirectional LSTM of 32 units per direction over their joined
/// channels, and 128 hidden units with ReLU and dropout 0.5. Windows of 300 bases, -249:51. The number of
/// filters is not known for certain; 32 each are used.
class DeePromoter : public BaseNetworkImpl {
    static constexpr std::array<std::int64_t, 3> widths{27, 14, 7};
    static constexpr std::int64_t filters = 32, pool = 6, units = 32, hidden = 128;
    static constexpr double dropout_rate = 0.5;

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

/// DeepSEA's network (Zhou and Troyanskaya 2015): convolutions of 320, 480 and 960 filters of 8, each with
/// ReLU, the first two followed by max-pooling over 4. Dropout is 0.2, 0.2 and 0.5; 925 hidden units have
/// ReLU. Windows of 1,000 bases around the bin. Its L1 penalty and bounded norms are missing: the optimizer
/// is this program's AdamW.
class DeepSea : public BaseNetworkImpl {
    static constexpr std::array<std::int64_t, 4> channels{4, 320, 480, 960};
    static constexpr std::array<double, 3> dropout_rates{0.2, 0.2, 0.5};
    static constexpr std::int64_t width = 8, pool = 4, hidden = 925;

    /// Number of positions after all convolutions and poolings of `length` bases.
    static std::int64_t places(std::int64_t length) {
        const std::int64_t after = width - 1;
        return ((length - after) / pool - after) / pool - after;
    }

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

struct Kind {
    std::string_view name;
    std::int64_t shortest;  ///< bases of the shortest window that its layers accept
    BaseNetwork (*make)(std::int64_t length, std::int64_t labels);
};
template <typename Network>
BaseNetwork make(std::int64_t length, std::int64_t labels) {
    return std::make_shared<Network>(length, labels);
}
constexpr std::array<Kind, 3> kinds{
    {{"cnnprom", 21, make<CnnProm>}, {"deepromoter", 6, make<DeePromoter>}, {"deepsea", 163, make<DeepSea>}}};

}  // namespace

BaseNetwork make_network(const std::string& name, std::int64_t length, std::int64_t labels,
                         std::uint64_t seed) {
    const auto* const kind = std::ranges::find(kinds, name, &Kind::name);
    BIGBIRD_EXPECTS(kind != kinds.end(), "no network: " + name);
    if (length < kind->shortest) {
        throw ConfigError("--window has " + std::to_string(length) + " bases, --architecture " + name +
                          " needs at least " + std::to_string(kind->shortest));
    }
    BaseNetwork network = kind->make(length, labels);
    initialise_uniformly(*network, seed);
    return network;
}

}  // namespace bigbird::baselines
