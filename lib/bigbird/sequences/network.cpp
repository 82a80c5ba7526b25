// SPDX-License-Identifier: Apache-2.0
#include "bigbird/sequences/network.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::sequences {

/// The positions of a padded batch, and of each of its records.
struct NetworkImpl::Extent {
    std::int64_t positions = 0;
    std::vector<std::int64_t> own;  // number of positions of each record
    at::Tensor mask;                // (batch, positions) bool, true where a record has them; undefined: all

    Extent(const at::Tensor& bases, std::span<const std::int64_t> lengths, std::int64_t pool)
        : positions(bases.size(1) / pool) {
        for (const std::int64_t length : lengths)
            own.push_back((length + pool - 1) / pool);
        if (std::ranges::all_of(own, [&](std::int64_t count) { return count == positions; })) return;
        mask =
            at::arange(positions).unsqueeze(0).lt(at::tensor(own, at::kLong).unsqueeze(1)).to(bases.device());
    }
    at::Tensor mean(const at::Tensor& x) const {
        if (!mask.defined()) return x.mean(1);
        const at::Tensor counted = mask.unsqueeze(2).to(x.scalar_type());
        return (x * counted).sum(1) / counted.sum(1);
    }
    at::Tensor maximum(const at::Tensor& x) const {
        return bins::largest(mask.defined() ? x.masked_fill(mask.logical_not().unsqueeze(2), -1e9) : x, 1);
    }
};

NetworkImpl::NetworkImpl(const Config& config, std::int64_t labels) : config_(config) {
    config_.validate();
    const bins::BinsConfig body = config_.body();
    const std::int64_t hidden = config_.hidden;
    const double epsilon = body.encoder.layer_norm_eps;
    stem_ = register_module("stem", bins::Stem(body));
    if (config_.places > 0) places_ = register_parameter("places", at::zeros({config_.places, hidden}));
    const auto layouts =
        std::make_shared<attention::LayoutCache>(body.encoder.pattern, static_cast<int>(config_.heads));
    const auto encoder = register_module("encoder", std::make_shared<torch::nn::Module>("encoder"));
    for (int layer = 0; layer < config_.layers; ++layer) {
        layers_.push_back(
            encoder->register_module(std::to_string(layer), bins::EncoderLayer(body, layer, layouts)));
    }
    norm_ = register_module("norm", model::LayerNorm(hidden, epsilon));
    site_norm_ = register_module("site_norm", model::LayerNorm(config_.filters, epsilon));
    dense_ = register_module("dense", model::Linear(2 * hidden + config_.filters, config_.dense));
    const auto head = register_module("head", std::make_shared<torch::nn::Module>("head"));
    output_ = head->register_module("output", model::Linear(config_.dense, labels));
}

at::Tensor NetworkImpl::at_places(const at::Tensor& x, const Extent& extent) const {
    at::Tensor index = at::empty({x.size(0), extent.positions}, at::kLong);
    auto* out = index.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t own : extent.own)
        for (std::int64_t position = 0; position < extent.positions; ++position)
            *out++ = std::clamp<std::int64_t>(position - own / 2 + config_.places / 2, 0, config_.places - 1);
    return x + places_.index_select(0, index.flatten().to(x.device())).view(x.sizes());
}

at::Tensor NetworkImpl::encode(at::Tensor x, const Extent& extent, const model::DropoutKey& key) {
    if (places_.defined()) x = at_places(x, extent);
    const auto normed = [&](const at::Tensor& y) { return norm_->forward(y); };
    if (layers_.empty()) return bins::jointly(x, normed);
    if (!rotary_.cosine.defined() || rotary_.cosine.size(0) < extent.positions)
        rotary_ = model::rotary_table(extent.positions, config_.hidden / config_.heads, x.device());
    bins::Pass pass{.mask = extent.mask, .rotary = rotary_, .key = key};
    if (!config_.attends_fully(extent.positions)) {
        pass.blocks = static_cast<int>(extent.positions / attention::PatternSpec().block_size);
        if (!pass.mask.defined())
            pass.mask = at::ones({x.size(0), extent.positions}, x.options().dtype(at::kBool));
    }
    for (const bins::EncoderLayer& layer : layers_)
        x = layer->forward(x, pass);
    return bins::jointly(x, normed);
}

at::Tensor NetworkImpl::forward(const at::Tensor& bases, std::span<const std::int64_t> lengths,
                                const model::DropoutKey& key) {
    using Place = model::DropoutSite::Place;
    BIGBIRD_EXPECTS(bases.size(0) == std::ssize(lengths) && bases.size(1) == config_.padded(lengths.front()),
                    "records padded alike");
    const Extent extent(bases, lengths, config_.pool);
    const bins::StemOutput stem = stem_->forward(bases, bases.size(1));
    const at::Tensor x = encode(stem.positions, extent, key).to(at::kFloat);
    const auto gelu = [](const at::Tensor& y) { return at::gelu(y, "tanh"); };
    const at::Tensor sites =  // (batch, filters)
        bins::jointly(
            bins::elementwise(stem.sites.to(at::kFloat).squeeze(1), gelu),
            [&](const at::Tensor& y) { return site_norm_->forward(y); });
    const auto dropped = [&](const at::Tensor& y, Place place) {
        return is_training() ? model::dropout(y, config_.head_dropout, key, {place}) : y;
    };
    const at::Tensor pooled = at::cat({extent.mean(x), extent.maximum(x), sites}, 1);
    const at::Tensor inner =
        bins::elementwise(dense_->forward(dropped(pooled, Place::classifier_input)), gelu);
    return output_->forward(dropped(inner, Place::classifier_middle)).to(at::kFloat);
}

void initialise(NetworkImpl& network, std::uint64_t seed) {
    bins::initialise(network, network.config().body(), seed);
}

}  // namespace bigbird::sequences
