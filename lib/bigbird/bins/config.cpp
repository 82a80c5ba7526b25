// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/config.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/choice.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace bigbird::bins {

namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 24;  // keeps products of two sizes far from overflow

void require(bool condition, const std::string& message) {
    if (!condition) throw ConfigError("model of bins: " + message);
}

void require_size(std::int64_t value, std::int64_t least, const std::string& what) {
    require(value >= least && value <= largest_size,
            what + " must be between " + std::to_string(least) + " and 2^24, not " + std::to_string(value));
}

constexpr Choices<Mixing, 2> mixings{
    {{Mixing::attention, "attention"}, {Mixing::convolution, "convolution"}}};

void require_stages(const BinsConfig& config) {
    require(!config.stages.empty(), "the stem needs a stage");
    for (const Stage& stage : config.stages) {
        require_size(stage.channels, 1, "channels");
        require_size(stage.width, 1, "width");
        require_size(stage.pool, 1, "pool");
        require(stage.width % 2 == 1,
                "the width of a convolution must be odd, not " + std::to_string(stage.width));
    }
}

/// The parts of BigBird's configuration that are used here.
Json encoder_json(const model::BigBirdConfig& encoder) {
    Json json = model::config_to_json(encoder, "BigBirdModel");
    for (const char* key :
         {"architectures", "vocab_size", "type_vocab_size", "max_position_embeddings",
          "attention_probs_dropout_prob", "classifier_dropout", "initializer_range", "use_bias",
          "rescale_embeddings", "is_decoder", "tie_word_embeddings", "torch_dtype", "pad_token_id",
          "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id", "bigbird_dna"})
        json.erase(key);
    return json;
}

struct Shape {
    std::string_view name;
    std::int64_t layers, hidden, heads, positions;
    std::array<std::int64_t, 3> pools;
    Mixing mixing = Mixing::attention;
};
constexpr std::array<Shape, 5> shapes{{{"tiny", 2, 128, 4, 64, {4, 5, 10}},
                                       {"dilated", 4, 128, 4, 64, {4, 5, 10}, Mixing::convolution},
                                       {"small", 4, 256, 4, 256, {4, 5, 5}},
                                       {"base", 12, 768, 12, 4096, {4, 5, 5}},
                                       {"large", 24, 1024, 16, 4096, {4, 5, 5}}}};
constexpr std::array<std::int64_t, 3> widths{21, 5, 5};  // CTCF's motif has 19 positions, REST's 21
constexpr std::int64_t most_motif_filters = 48;
constexpr std::int64_t longest_profile_bin = 8, profile_position = 24;  // bases

/// Sets pools whose product is `position`, from the first stage on as near as possible to the old ones, by
/// ratio.
void set_pools(std::vector<Stage>& stages, std::int64_t position) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
        std::int64_t best = position;  // pool of the last stage
        for (std::int64_t pool = 1; i + 1 < stages.size() && pool <= position; ++pool) {
            const auto off = [&](std::int64_t some) {
                return std::abs(std::log(static_cast<double>(some) / static_cast<double>(stages[i].pool)));
            };
            if (position % pool == 0 && off(pool) < off(best)) best = pool;
        }
        stages[i].pool = best;
        position /= best;
    }
}

/// Calls read() with errors that name the file.
template <typename Read>
auto read_description(const std::filesystem::path& where, const Read& read) {
    try {
        return read();
    } catch (const Json::exception& error) {
        throw InputError("the description of a model of bins is damaged: " + std::string(error.what()),
                         where);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), where);
    }
}

}  // namespace

void Grid::validate() const {
    require_size(bin, 1, "bin");
    require_size(window_bins, 1, "window_bins");
    require_size(margin_bins, 0, "margin_bins");
    require(core_bins() > 0, "margins of " + std::to_string(margin_bins) +
                                 " bins leave nothing of a window of " + std::to_string(window_bins));
}

Json to_json(const Grid& grid) {
    return {{"bin", grid.bin}, {"window_bins", grid.window_bins}, {"margin_bins", grid.margin_bins}};
}

Grid grid_from_json(const Json& json, const std::filesystem::path& where) {
    return read_description(
        where,
        [&] {
            const Grid grid{.bin = whole_number(json, "bin"),
                            .window_bins = whole_number(json, "window_bins"),
                            .margin_bins = whole_number(json, "margin_bins")};
            grid.validate();
            return grid;
        });
}

std::vector<BinShare> shares_of(std::int64_t begin, std::int64_t end, std::int64_t bin) {
    BIGBIRD_EXPECTS(0 <= begin && begin <= end, "an interval on a contig");
    if (begin == end) return {{begin / bin, 1}};
    std::vector<BinShare> shares;
    for (std::int64_t i = begin / bin; i * bin < end; ++i) {
        const std::int64_t bases = std::min(end, (i + 1) * bin) - std::max(begin, i * bin);
        shares.push_back({i, static_cast<double>(bases) / static_cast<double>(end - begin)});
    }
    return shares;
}

std::int64_t BinsConfig::position_bases() const {
    std::int64_t bases = 1;
    for (const Stage& stage : stages)
        bases *= stage.pool;
    return bases;
}

void BinsConfig::validate() const {
    Grid::validate();
    require_stages(*this);
    const std::string misfit =
        " bases is no whole number of positions of " + std::to_string(position_bases());
    require(bin % position_bases() == 0 || position_bases() % bin == 0,
            "a bin of " + std::to_string(bin) + misfit + ", nor a whole part of one");
    require(window_bases() % position_bases() == 0, "a window of " + std::to_string(window_bases()) + misfit);
    require(motif_filters >= 0 && motif_filters <= stages.front().channels,
            "motif_filters must be between 0 and the " + std::to_string(stages.front().channels) +
                " channels of the first stage, not " + std::to_string(motif_filters));
    require(!has_profile() || motif_filters == 0,
            "motif_filters must be 0 where bins are shorter than positions");
    require(stages.back().channels == encoder.hidden_size,
            "the last stage has " + std::to_string(stages.back().channels) + " channels, the encoder " +
                std::to_string(encoder.hidden_size) + " hidden features");
    require(window_positions() % encoder.pattern.block_size == 0,
            "a window has " + std::to_string(window_positions()) +
                " positions, which are no whole blocks of " + std::to_string(encoder.pattern.block_size));
    require(encoder.extra_global_tokens == 0, "num_extra_global_tokens must be 0");
    require(!encoder.performer, "attention_type performer is for models of tokens");
    require(!encoder.longformer, "attention_type longformer is for models of tokens");
    require(positions != model::Positions::absolute, "positions are rotary or none, not absolute");
    require(head_dropout >= 0 && head_dropout < 1, "head_dropout must be at least 0 and below 1");
    encoder.validate();
    require(
        positions != model::Positions::rotary || encoder.hidden_size / encoder.num_attention_heads % 2 == 0,
        "rotary positions need an even number of features a head");
}

BinsConfig preset(const std::string& name) {
    std::string names;
    for (const Shape& shape : shapes) {
        names += (names.empty() ? "" : ", ") + std::string(shape.name);
        if (shape.name != name) continue;
        BinsConfig config;
        config.both_strands = true;
        config.motif_filters = most_motif_filters;
        config.mixing = shape.mixing;
        config.encoder.num_hidden_layers = shape.layers;
        config.encoder.hidden_size = shape.hidden;
        config.encoder.num_attention_heads = shape.heads;
        config.encoder.intermediate_size = 4 * shape.hidden;
        config.encoder.max_position_embeddings = shape.positions;
        config.encoder.hidden_dropout_prob = 0.2;
        config.encoder.layer_norm_eps = 1e-5;
        for (std::size_t i = 0; i < config.stages.size(); ++i)
            config.stages[i] = {shape.hidden, widths[i], shape.pools[i]};
        config.window_bins = shape.positions * config.position_bases() / config.bin;
        config.margin_bins = config.window_bins / 8;
        return config;
    }
    throw ConfigError("no preset of a model of bins is named '" + name + "'; there are " + names);
}

BinsConfig fitted_to(BinsConfig config, std::int64_t bin) {
    const std::int64_t window = config.window_bases(), before = config.position_bases();
    if (config.bin == bin || (bin % before == 0 && !config.has_profile())) {
        config.bin = bin;
        return config;
    }
    config.bin = bin;
    const std::int64_t whole = bin <= longest_profile_bin ? profile_position / bin * bin : bin;
    std::int64_t position = std::min(whole, before);
    while (whole % position != 0)
        --position;
    if (bin < position) config.motif_filters = 0;
    set_pools(config.stages, position);
    const std::int64_t block = config.encoder.pattern.block_size, step = std::lcm(block * position, bin);
    config.window_bins = std::max<std::int64_t>(1, (window + step / 2) / step) * step / bin;
    config.margin_bins = config.window_bins / 8;
    config.encoder.max_position_embeddings = config.window_positions();
    return config;
}

Json to_json(const BinsConfig& config) {
    Json stages = Json::array();
    for (const Stage& stage : config.stages)
        stages.push_back({{"channels", stage.channels}, {"width", stage.width}, {"pool", stage.pool}});
    Json json = to_json(config.grid());
    json.update({{"stages", stages},
                 {"both_strands", config.both_strands},
                 {"motif_filters", config.motif_filters},
                 {"mixing", word_of(mixings, config.mixing)},
                 {"norm", word_of(model::norm_choices, config.norm)},
                 {"positions", word_of(model::position_choices, config.positions)},
                 {"feed_forward", word_of(model::feed_forward_choices, config.feed_forward)},
                 {"head_dropout", config.head_dropout},
                 {"encoder", encoder_json(config.encoder)}});
    return json;
}

BinsConfig config_from_json(const Json& json, const std::filesystem::path& where) {
    return read_description(
        where,
        [&] {
            const auto choice = [&](const char* key, const auto& choices) {
                return parse_choice(choices, key, json.at(key).get<std::string>());
            };
            BinsConfig config{grid_from_json(json, where)};
            config.stages.clear();
            for (const Json& stage : json.at("stages"))
                config.stages.push_back({.channels = whole_number(stage, "channels"),
                                         .width = whole_number(stage, "width"),
                                         .pool = whole_number(stage, "pool")});
            config.both_strands = json.value("both_strands", false);  // optional in --config
            if (json.contains("motif_filters"))
                config.motif_filters = whole_number(json, "motif_filters");  // likewise
            config.mixing = parse_choice(mixings, "mixing", json.value("mixing", "attention"));
            config.norm = choice("norm", model::norm_choices);
            config.positions = choice("positions", model::position_choices);
            config.feed_forward = choice("feed_forward", model::feed_forward_choices);
            config.head_dropout = json.at("head_dropout").get<double>();
            config.encoder = model::config_from_json(json.at("encoder"), where);
            config.validate();
            return config;
        });
}

}  // namespace bigbird::bins
