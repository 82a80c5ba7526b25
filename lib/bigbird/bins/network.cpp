// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/network.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <span>

namespace bigbird::bins {

namespace {

constexpr double first_sharpness = 2, output_scale = 0.1;
constexpr model::DropoutSite head_site{model::DropoutSite::Place::classifier_input};

/// Sets biases of queries and keys in the first half of a head's features. Rotation turns their product into
/// the sum of the cosines of the angles between two positions, divided by sqrt(head_dim) as scores are.
void attend_near_positions(at::Tensor& bias, std::int64_t heads) {
    const std::int64_t features = bias.size(0) / heads;
    bias.view({heads, features})
        .slice(0, 0, heads / 2)
        .slice(1, 0, features / 2)
        .fill_(std::pow(static_cast<double>(features), 0.25));
}

double bound_of(const std::string& name, const at::Tensor& weight) {
    const auto inputs = static_cast<double>(weight.numel() / weight.size(0));
    const bool last = name.starts_with("head.") && !name.starts_with("head.profile.");
    return (last ? output_scale : 1.0) / std::sqrt(inputs);
}

}  // namespace

BinsNetworkImpl::BinsNetworkImpl(const BinsConfig& config, std::int64_t labels)
    : config_(config), labels_(labels) {
    config_.validate();
    stem_ = register_module("stem", Stem(config_));
    attention::PatternSpec pattern = config_.encoder.pattern;
    pattern.plan_tokens = static_cast<int>(config_.window_positions());
    pattern.plan_heads = static_cast<int>(config_.encoder.num_attention_heads);
    const auto layouts = std::make_shared<attention::LayoutCache>(pattern, pattern.plan_heads);
    const auto encoder = model::add_group(*this, "encoder");
    for (int layer = 0; layer < config_.encoder.num_hidden_layers; ++layer) {
        layers_.push_back(
            encoder->register_module(std::to_string(layer), EncoderLayer(config_, layer, layouts)));
    }
    const auto head = model::add_group(*this, "head");
    if (config_.norm == model::Norm::pre) {
        norm_ = head->register_module(
            "norm", model::LayerNorm(config_.encoder.hidden_size, config_.encoder.layer_norm_eps));
    }
    output_ = head->register_module("output", model::Linear(config_.feature_size(), labels));
    if (config_.has_profile()) {
        const auto profile = model::add_group(*head, "profile");
        context_ =
            profile->register_module("context", model::Linear(config_.encoder.hidden_size, profile_channels));
        sites_weight_ =
            profile->register_parameter("weight", at::zeros({profile_channels, 4, profile_width}));
        sites_bias_ = profile->register_parameter("bias", at::zeros({profile_channels}));
    }
    if (config_.motif_filters > 0) {
        const auto motifs = model::add_group(*head, "motifs");
        own_motifs_ = {
            .mean = motifs->register_parameter("mean", at::zeros({config_.motif_filters})),
            .weight = motifs->register_parameter("weight", at::zeros({labels, config_.motif_filters}))};
    }
}

at::Tensor BinsNetworkImpl::forward(const at::Tensor& bases, const model::DropoutKey& key) {
    return predict(features(bases, key), key);
}

at::Tensor BinsNetworkImpl::features(const at::Tensor& bases, const model::DropoutKey& key) {
    BIGBIRD_EXPECTS(bases.size(1) == config_.window_bases(), "a window of another length");
    const at::Tensor encoded = encode(stem_->forward(bases), key);
    return config_.has_profile() ? bases_of(encoded, bases, key) : encoded;
}

at::Tensor BinsNetworkImpl::bases_of(const at::Tensor& encoded, const at::Tensor& bases,
                                     const model::DropoutKey& key) {
    const std::int64_t batch = encoded.size(0), position = config_.position_bases();
    const at::Tensor context =
        context_
            ->forward(is_training() ? model::dropout(encoded, config_.head_dropout, key, head_site) : encoded)
            .unsqueeze(2);  // (batch, positions, 1, channels)
    const at::Tensor sites = convolution(base_channels(bases), sites_weight_, sites_bias_)
                                 .reshape({batch, -1, position, profile_channels});
    const at::Tensor active =
        elementwise(context + sites, [](const at::Tensor& all) { return at::gelu(all, "tanh"); });
    return (context + active)
        .to(at::kFloat)
        .reshape({batch, config_.window_bins, config_.bin, profile_channels})
        .mean(2);
}

Pass BinsNetworkImpl::pass_of(const at::Tensor& x, const model::DropoutKey& key) {
    const std::int64_t positions = config_.window_positions();
    const std::int64_t head = config_.encoder.hidden_size / config_.encoder.num_attention_heads;
    const bool turns = config_.positions == model::Positions::rotary;
    return {.mask = at::ones({x.size(0), positions}, x.options().dtype(at::kBool)),
            .rotary = turns ? rotary_.at_least(positions, head, x.device()) : model::RotaryTable(),
            .key = key,
            .backend = backend_,
            .blocks = static_cast<int>(positions / config_.encoder.pattern.block_size)};
}

at::Tensor BinsNetworkImpl::means_of(const at::Tensor& x) const {
    const at::Tensor y = norm_ ? jointly(x, [&](const at::Tensor& some) { return norm_->forward(some); }) : x;
    const std::int64_t positions = config_.positions_per_bin();
    return y.to(at::kFloat).view({y.size(0), y.size(1) / positions, positions, y.size(2)}).mean(2);
}

at::Tensor BinsNetworkImpl::encode(const StemOutput& stem, const model::DropoutKey& key) {
    at::Tensor x = stem.positions;  // (batch, positions, hidden)
    const Pass pass = pass_of(x, key);
    for (const EncoderLayer& layer : layers_)
        x = layer->forward(x, pass);
    const at::Tensor means = means_of(x);
    return stem.sites.defined() ? at::cat({means, stem.sites.to(at::kFloat)}, 2) : means;
}

Projections BinsNetworkImpl::project(const at::Tensor& window) {
    return layers_.size() > 1 ? layers_.front()->project(window, pass_of(window, {})) : Projections();
}

at::Tensor BinsNetworkImpl::encode_changed(const at::Tensor& window, const Projections& projections,
                                           const ChangedPositions& changed, const at::Tensor& bins) {
    BIGBIRD_EXPECTS(!is_training(), "evaluation mode");
    at::Tensor x = changed.put(window, changed.values);
    const Pass pass = pass_of(x, {});
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
        x = i == 0 ? layers_[i]->forward_changed(x, changed, projections, pass)
                   : layers_[i]->forward(x, pass);
    }
    const std::int64_t positions = config_.positions_per_bin();
    const at::Tensor rows =
        (bins.unsqueeze(2) * positions + at::arange(positions, bins.options())).flatten(1);
    return means_of(layers_.back()->forward_at(x, rows, pass));
}

at::Tensor BinsNetworkImpl::predict(const at::Tensor& features, const model::DropoutKey& key) {
    if (config_.has_profile()) return output_->forward(features);
    const std::int64_t hidden = config_.encoder.hidden_size;
    const at::Tensor means = features.narrow(-1, 0, hidden);
    const at::Tensor logits =
        output_->forward(is_training() ? model::dropout(means, config_.head_dropout, key, head_site) : means);
    if (!own_motifs_.weight.defined()) return logits;
    const at::Tensor sites = features.narrow(-1, hidden, config_.motif_filters) - own_motifs_.mean;
    const at::Tensor& weight = own_motifs_.weight;
    return logits + model::linear(sites, weight * weight.ne(0), {});
}

void initialise(BinsNetworkImpl& network, std::uint64_t seed) {
    initialise(network, network.config(), seed);
}

void initialise(torch::nn::Module& network, const BinsConfig& config, std::uint64_t seed) {
    const at::NoGradGuard no_gradients;
    const Rng stream = Rng(seed).split("initialise");
    const bool rotary = config.positions == model::Positions::rotary;
    for (auto& item : network.named_parameters()) {
        const std::string& name = item.key();
        at::Tensor& parameter = item.value();
        if (name == "head.motifs.weight") {
            parameter.zero_();
            continue;
        }
        if (parameter.dim() == 1) {
            parameter.fill_(name.ends_with("norm.weight") ? 1.0
                            : name.ends_with("sharpness") ? first_sharpness
                                                          : 0.0);
            if (rotary && (name.ends_with("query.bias") || name.ends_with("key.bias")))
                attend_near_positions(parameter, config.encoder.num_attention_heads);
            continue;
        }
        const double bound = bound_of(name, parameter);
        at::Tensor values = at::empty(parameter.sizes(), at::kFloat);
        Rng rng = stream.split(name);
        for (float& value :
             std::span(values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())))
            value = static_cast<float>(bound * (2 * rng.uniform() - 1));
        parameter.copy_(values);
    }
}

std::uint8_t code_of(char base) {
    return static_cast<std::uint8_t>(std::min<std::size_t>(std::string_view("ACGT").find(base), 4));
}

at::Tensor codes_of(std::string_view dna) {
    at::Tensor codes = at::empty({static_cast<std::int64_t>(dna.size())}, at::kByte);
    auto* out = codes.mutable_data_ptr<std::uint8_t>();
    for (const char base : dna)
        *out++ = code_of(base);
    return codes;
}

}  // namespace bigbird::bins
