// SPDX-License-Identifier: Apache-2.0
#include "bigbird/sequences/config.hpp"

#include "bigbird/core/error.hpp"

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

}  // namespace bigbird::sequences
