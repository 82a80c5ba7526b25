// SPDX-License-Identifier: Apache-2.0
#include "bigbird/sequences/network.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <string>

namespace bigbird::sequences {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 20, later_width = 5, padding_share = 16;
constexpr double layer_norm_epsilon = 1e-5;

/// Whole numbers of the configuration by their names in JSON.
struct Field {
    const char* name;
    std::int64_t Config::*value;
    std::int64_t least;
};
constexpr Field fields[] = {{"filters", &Config::filters, 1}, {"width", &Config::width, 1},
                            {"pool", &Config::pool, 1},       {"convolutions", &Config::convolutions, 1},
                            {"hidden", &Config::hidden, 1},   {"layers", &Config::layers, 0},
                            {"heads", &Config::heads, 1},     {"dense", &Config::dense, 1},
                            {"places", &Config::places, 0},   {"longest", &Config::longest, 16}};

void require(bool condition, const std::string& message) {
    if (!condition) throw ConfigError("network of sequences: " + message);
}

std::int64_t multiple(std::int64_t value, std::int64_t of) {
    return (value + of - 1) / of * of;
}

}  // namespace

bool Config::attends_fully(std::int64_t positions) const {
    const attention::PatternSpec pattern;
    return positions <= std::int64_t{pattern.block_size} * pattern.full_up_to_blocks();
}

std::int64_t Config::padded(std::int64_t length) const {
    if (!attends_fully(multiple(length, pool) / pool))
        return multiple(length, pool * attention::PatternSpec().block_size);
    const auto share =
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, length / padding_share)));
    return multiple(length, pool * std::max<std::int64_t>(1, static_cast<std::int64_t>(share) / pool));
}

bins::BinsConfig Config::body() const {
    bins::BinsConfig body;
    body.stages = {{.channels = filters, .width = width, .pool = pool}};
    for (std::int64_t i = 0; i < convolutions; ++i)
        body.stages.push_back({.channels = hidden, .width = later_width, .pool = 1});
    body.both_strands = both_strands;
    body.motif_filters = filters;
    body.head_dropout = head_dropout;
    model::BigBirdConfig& encoder = body.encoder;
    encoder.num_hidden_layers = layers;
    encoder.hidden_size = hidden;
    encoder.num_attention_heads = heads;
    encoder.intermediate_size = 2 * hidden;
    encoder.max_position_embeddings = multiple(longest, pool) / pool;
    encoder.hidden_dropout_prob = dropout;
    encoder.layer_norm_eps = layer_norm_epsilon;
    encoder.pattern.plan_heads = static_cast<int>(heads);
    return body;
}

void Config::validate() const {
    for (const Field& field : fields) {
        const std::int64_t value = this->*field.value;
        require(value >= field.least && value <= largest, std::string(field.name) + " must be between " +
                                                              std::to_string(field.least) +
                                                              " and 2^20, not " + std::to_string(value));
    }
    require(width % 2 == 1, "width must be odd, not " + std::to_string(width));
    require(hidden % (2 * heads) == 0, "hidden must be an even number of features for each of the heads");
    for (const double rate : {dropout, head_dropout})
        require(rate >= 0 && rate < 1, "dropout must be at least 0 and below 1");
}

Json to_json(const Config& config) {
    Json json{{"dropout", config.dropout},
              {"head_dropout", config.head_dropout},
              {"both_strands", config.both_strands}};
    for (const Field& field : fields)
        json[field.name] = config.*field.value;
    return json;
}

Config config_from_json(const Json& json, const std::filesystem::path& where) {
    try {
        Config config;
        for (const Field& field : fields)
            config.*field.value = whole_number(json, field.name);
        config.dropout = json.at("dropout").get<double>();
        config.head_dropout = json.at("head_dropout").get<double>();
        config.both_strands = json.at("both_strands").get<bool>();
        config.validate();
        return config;
    } catch (const Json::exception& error) {
        throw InputError("the description of a network of sequences is damaged: " + std::string(error.what()),
                         where);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), where);
    }
}

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
    const auto encoder = model::add_group(*this, "encoder");
    for (int layer = 0; layer < config_.layers; ++layer) {
        layers_.push_back(
            encoder->register_module(std::to_string(layer), bins::EncoderLayer(body, layer, layouts)));
    }
    norm_ = register_module("norm", model::LayerNorm(hidden, epsilon));
    site_norm_ = register_module("site_norm", model::LayerNorm(config_.filters, epsilon));
    dense_ = register_module("dense", model::Linear(2 * hidden + config_.filters, config_.dense));
    const auto head = model::add_group(*this, "head");
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
    bins::Pass pass{.mask = extent.mask,
                    .rotary = rotary_.at_least(extent.positions, config_.hidden / config_.heads, x.device()),
                    .key = key};
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
