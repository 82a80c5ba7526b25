// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/config.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/files/config_keys.hpp"
#include "bigbird/model/files/weight_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace bigbird::model {

namespace {

using attention::GlobalPlacement;
using attention::PatternKind;
using attention::RandomSource;

constexpr Choices<RandomSource, 4> random_sources{{{RandomSource::uniform, "uniform"},
                                                   {RandomSource::hf, "hf"},
                                                   {RandomSource::seeded, "seeded"},
                                                   {RandomSource::google, "google"}}};
constexpr Choices<GlobalPlacement, 2> placements{
    {{GlobalPlacement::ends, "ends"}, {GlobalPlacement::first, "first"}}};
constexpr Choices<PatternKind, 2> pattern_kinds{
    {{PatternKind::bigbird, "bigbird"}, {PatternKind::longformer, "longformer"}}};

constexpr std::array<std::string_view, 6> activations{"gelu", "gelu_new", "gelu_pytorch_tanh",
                                                      "relu", "silu",     "swish"};
// Ids of our special tokens (tokenizer.hpp), which transformers needs in config.json.
constexpr int cls_id = 2, sep_id = 3, mask_id = 4;

// The keys of config.json. Each function calls field(key, value), or field(key, value, choices), in the order
// of the file; `field` is a Keys or a KeyWriter.

template <typename Config, typename Field>
void each_size(Config& config, const Field& field) {
    field("vocab_size", config.vocab_size);
    field("hidden_size", config.hidden_size);
    field("num_hidden_layers", config.num_hidden_layers);
    field("num_attention_heads", config.num_attention_heads);
    field("intermediate_size", config.intermediate_size);
    field("hidden_act", config.hidden_act);
    field("hidden_dropout_prob", config.hidden_dropout_prob);
    field("attention_probs_dropout_prob", config.attention_probs_dropout_prob);
    field("classifier_dropout", config.classifier_dropout);
    field("max_position_embeddings", config.max_position_embeddings);
    field("type_vocab_size", config.type_vocab_size);
    field("initializer_range", config.initializer_range);
    field("layer_norm_eps", config.layer_norm_eps);
    field("use_bias", config.use_bias);
    field("rescale_embeddings", config.rescale_embeddings);
}

template <typename Form, typename Field>
void each_of_form(Form& form, const Field& field) {
    field("norm", form.norm, norm_choices);
    field("position_embedding_type", form.positions, position_choices);
    field("feed_forward", form.feed_forward, feed_forward_choices);
    field("initialization", form.initialization, initialization_choices);
    field("embedding_convolution", form.embedding_convolution);
}

template <typename Spec, typename Field>
void each_of_performer(Spec& spec, const Field& field) {
    field("features", spec.features);
    field("kernel", spec.kernel, attention::feature_kernels);
    field("orthogonal", spec.orthogonal);
    field("redraw_every", spec.redraw_every);
    field("seed", spec.seed);
    field("redraw", spec.redraw);
}

/// Returns random_blocks_version.
template <typename Pattern, typename Field>
int each_of_blocks(Pattern& pattern, const Field& field) {
    int version = attention::uniform_version;
    field("num_random_blocks", pattern.random_blocks);
    field("num_global_blocks", pattern.global_blocks);
    field("num_window_blocks", pattern.window_blocks);
    field("global_blocks_placement", pattern.globals, placements);
    field("random_blocks_source", pattern.random_source, random_sources);
    field("random_blocks_version", version);
    field("random_blocks_seed", pattern.random_seed);
    return version;
}

template <typename Pattern, typename Field>
void each_of_windows(Pattern& pattern, const Field& field) {
    field("attention_pattern", pattern.kind, pattern_kinds);
    field("attention_window_tokens", pattern.window_tokens);
    field("attention_dilation", pattern.dilation);
    field("num_global_tokens", pattern.global_tokens);
}

/// Returns model_type.
std::string read_model_type(const Keys& keys, const std::filesystem::path& where) {
    std::string type = "big_bird";
    bool decoder = false;
    keys("model_type", type);
    keys("is_decoder", decoder);
    if (type != "big_bird" && type != "bigbird_dna" && type != "longformer") {
        throw InputError("is the configuration of a '" + type +
                             "' model; only 'big_bird', 'longformer' and 'bigbird_dna' models can be used",
                         where);
    }
    if (decoder) throw InputError("is the configuration of a decoder; only encoders can be used", where);
    return type;
}

/// {"rope_type": "linear", "factor": 2.0}; transformers wrote "type" before.
void read_rope_scaling(const Keys& keys, const std::filesystem::path& where, RotaryForm& form) {
    constexpr const char* key = "rope_scaling";
    if (!keys.has(key)) return;
    const Json& given = keys.at(key);
    keys.require(given.is_object() && (given.contains("rope_type") || given.contains("type")), key,
                 R"({"rope_type": "linear" or "ntk", "factor": 2.0})");
    const Keys inner(given, where);
    inner(given.contains("rope_type") ? "rope_type" : "type", form.scaling, rope_scaling_choices);
    if (form.scaling == RopeScaling::none) return;
    keys.require(inner.has("factor"), key, "an object with a factor");
    inner("factor", form.factor);
}

void write_rotary(const RotaryForm& form, Json& json) {
    if (form.theta != RotaryForm{}.theta) json["rope_theta"] = form.theta;
    if (form.scaling == RopeScaling::none) return;
    json["rope_scaling"] = {{"rope_type", word_of(rope_scaling_choices, form.scaling)},
                            {"factor", form.factor}};
}

/// block_sparse, original_full, performer or longformer, which model_type longformer means.
void read_attention_type(const Keys& keys, bool is_longformer, BigBirdConfig& config) {
    std::string type = is_longformer ? "longformer" : "block_sparse";
    keys("attention_type", type);
    keys.require(type == "longformer" || (!is_longformer && (type == "block_sparse" ||
                                                             type == "original_full" || type == "performer")),
                 "attention_type",
                 is_longformer ? "longformer" : "block_sparse, original_full, performer or longformer");
    config.pattern.full = type == "original_full";
    keys.require(type == "performer" || !keys.has("performer"), "performer",
                 "absent unless attention_type is performer");
    if (type == "performer") config.performer.emplace();
    if (keys.has("performer")) {
        each_of_performer(*config.performer, keys.inside("performer", {"features", "kernel", "orthogonal",
                                                                       "redraw_every", "seed", "redraw"}));
    }
    if (type == "longformer")
        config.longformer = read_longformer(keys, config.num_hidden_layers, config.num_attention_heads);
}

std::string_view attention_type(const BigBirdConfig& config) {
    if (config.longformer) return "longformer";
    if (config.performer) return "performer";
    return config.pattern.full ? "original_full" : "block_sparse";
}

int blocks_filled(std::int64_t tokens, int block_size) {
    return static_cast<int>(attention::filled_blocks(tokens, std::max(block_size, 1)));
}

/// Sets the defaults that extra global tokens imply.
void expect_etc(BigBirdConfig& config) {
    config.pattern.globals = GlobalPlacement::first;
    config.pattern.global_blocks = blocks_filled(config.extra_global_tokens, config.pattern.block_size);
}

void read_pattern(const Keys& keys, BigBirdConfig& config) {
    attention::PatternSpec& pattern = config.pattern;
    keys("num_extra_global_tokens", config.extra_global_tokens);
    keys.require(config.extra_global_tokens >= 0 && config.extra_global_tokens <= (1 << 24),
                 "num_extra_global_tokens", "between 0 and 2^24");
    if (config.extra_global_tokens > 0)
        expect_etc(config);
    else
        pattern.random_source = RandomSource::hf;
    keys.require(each_of_blocks(pattern, keys) == attention::uniform_version, "random_blocks_version",
                 std::to_string(attention::uniform_version));
    each_of_windows(pattern, keys);
    if (pattern.kind == PatternKind::longformer) pattern.random_source = RandomSource::uniform;
}

void read_labels(const Keys& keys, BigBirdConfig& config) {
    const Json architectures = keys.has("architectures") ? keys.at("architectures") : Json();
    const bool of_tokens = architectures == Json::array({"BigBirdForTokenClassification"});
    const bool of_sequences = architectures == Json::array({"BigBirdForSequenceClassification"}) ||
                              architectures == Json::array({"LongformerForSequenceClassification"});
    if (of_tokens || of_sequences) config.num_labels = 2;  // transformers' default if the key is missing
    if (of_sequences && config.longformer && !config.longformer->global_tokens)
        config.longformer->global_tokens = 1;
    if (of_tokens) config.classifier_head = "tokens";
    if (keys.has("id2label")) {
        keys.require(keys.at("id2label").is_object(), "id2label", "an object");
        config.num_labels = static_cast<std::int64_t>(keys.at("id2label").size());
    }
    keys("num_labels", config.num_labels);
    keys("classifier_head", config.classifier_head);
}

void require_probability(double value, const std::string& key) {
    require(value >= 0 && value < 1, key + " must be at least 0 and below 1, not " + std::to_string(value));
}

/// Returns transformers' Longformer architecture that corresponds to a BigBird's.
std::string of_longformer(const std::string& architecture) {
    if (architecture == "BigBirdForPreTraining") return "LongformerForMaskedLM";
    constexpr std::string_view theirs = "BigBird";
    return "Longformer" + architecture.substr(architecture.starts_with(theirs) ? theirs.size() : 0);
}

void require_rotary(const EncoderForm& form, std::int64_t head_size) {
    const RotaryForm& rotary = form.rotary;
    require(form.positions == Positions::rotary || rotary == RotaryForm{},
            "rope_theta and rope_scaling need position_embedding_type rotary, not " +
                std::string(word_of(position_choices, form.positions)));
    require(form.positions != Positions::rotary || head_size % 2 == 0,
            "position_embedding_type rotary needs heads of an even size, not " + std::to_string(head_size));
    require(std::isfinite(rotary.theta) && rotary.theta > 1,
            "rope_theta must be above 1, not " + std::to_string(rotary.theta));
    require(std::isfinite(rotary.factor) && rotary.factor >= 1,
            "the factor of rope_scaling must be at least 1, not " + std::to_string(rotary.factor));
    require(rotary.scaling != RopeScaling::ntk || head_size > 2,
            "rope_scaling ntk needs heads of more than 2 features");
}

void require_longformer(const BigBirdConfig& config) {
    if (!config.longformer) return;
    config.longformer->validate(config.num_hidden_layers, config.num_attention_heads,
                                config.max_position_embeddings);
    require(config.form.is_big_bird() && config.use_bias && !config.rescale_embeddings,
            "a Longformer has transformers' form: norm post, absolute positions, a plain feed-forward, no "
            "embedding_convolution, use_bias and no rescale_embeddings");
    require(!config.performer && !config.pattern.full && config.extra_global_tokens == 0 &&
                config.pattern.kind == PatternKind::bigbird,
            "attention_type longformer has neither an attention_pattern nor num_extra_global_tokens");
    require(config.pad_token_id + 1 < config.max_position_embeddings,
            "max_position_embeddings must be at least pad_token_id + 2, as positions begin behind it");
}

}  // namespace

void BigBirdConfig::validate() const {
    each_size(*this, [](const char* key, const auto& value) {
        if constexpr (std::is_same_v<decltype(value), const std::int64_t&>) {
            // 2^24 keeps every product of two sizes far from overflow.
            require(value >= 1 && value <= (std::int64_t{1} << 24),
                    std::string(key) + " must be between 1 and 2^24, not " + std::to_string(value));
        }
    });
    require(hidden_size % num_attention_heads == 0, "hidden_size " + std::to_string(hidden_size) +
                                                        " is no multiple of num_attention_heads " +
                                                        std::to_string(num_attention_heads));
    require(
        std::ranges::find(activations, hidden_act) != activations.end(),
        "hidden_act '" + hidden_act + "' is unknown; choose gelu, gelu_new, gelu_pytorch_tanh, relu or silu");
    require_probability(hidden_dropout_prob, "hidden_dropout_prob");
    require_probability(attention_probs_dropout_prob, "attention_probs_dropout_prob");
    require_probability(classifier_dropout.value_or(0), "classifier_dropout");
    require(layer_norm_eps > 0, "layer_norm_eps must be above 0");
    require(initializer_range >= 0, "initializer_range must not be negative");
    require(pad_token_id >= 0 && pad_token_id < vocab_size, "pad_token_id must lie within the vocabulary");
    require(num_labels >= 0, "num_labels must not be negative");
    require(classifier_head == "classification" || classifier_head == "linear" || classifier_head == "bins" ||
                classifier_head == "tokens" || classifier_head == "prediction" || classifier_head == "probe",
            "classifier_head must be classification, linear, bins or tokens, not '" + classifier_head + "'");
    require_rotary(form, hidden_size / num_attention_heads);
    require(form.embedding_convolution == 0 ||
                (form.embedding_convolution % 2 == 1 && form.embedding_convolution < 64),
            "embedding_convolution must be 0 or odd and below 64, not " +
                std::to_string(form.embedding_convolution));
    require(extra.is_object(), "bigbird_dna must be an object");
    pattern.validate();
    require(longformer || is_published() || pattern.block_size <= max_position_embeddings,
            "block_size " + std::to_string(pattern.block_size) + " is above max_position_embeddings " +
                std::to_string(max_position_embeddings));
    require(extra_global_tokens >= 0, "num_extra_global_tokens must not be negative");
    if (performer) performer->validate();
    require_longformer(*this);
    require(!form.published.counted_positions || pad_token_id + 1 < max_position_embeddings,
            "max_position_embeddings must be at least pad_token_id + 2, as positions begin behind it");
    require(!performer || (!pattern.full && pattern.kind == PatternKind::bigbird && extra_global_tokens == 0),
            "attention_type performer has neither an attention_pattern nor num_extra_global_tokens");
    const int filled = blocks_filled(extra_global_tokens, pattern.block_size);
    require(extra_global_tokens == 0 ||
                (pattern.kind == PatternKind::bigbird && pattern.globals == GlobalPlacement::first &&
                 pattern.global_blocks == filled),
            "num_extra_global_tokens " + std::to_string(extra_global_tokens) +
                " needs attention_pattern bigbird, global_blocks_placement first and num_global_blocks " +
                std::to_string(filled) + ", the blocks that the tokens fill");
}

Json performer_json(const attention::FeatureSpec& spec) {
    Json json;
    each_of_performer(spec, KeyWriter{json});
    return json;
}

std::int64_t BigBirdConfig::positions() const {
    const bool counted = longformer || form.published.counted_positions;
    return counted ? max_position_embeddings - pad_token_id - 1 : max_position_embeddings;
}

std::int64_t BigBirdConfig::front_tokens() const {
    return extra_global_tokens == 0 ? 0 : std::int64_t{pattern.global_blocks} * pattern.block_size;
}

BigBirdConfig preset(const std::string& name) {
    struct Shape {
        std::string_view name;
        std::int64_t layers, hidden, heads;
    };
    constexpr std::array<Shape, 8> shapes{{{"tiny", 2, 128, 2},
                                           {"tiny-modern", 2, 128, 2},
                                           {"modern", 8, 512, 8},
                                           {"small", 4, 256, 4},
                                           {"base", 12, 768, 12},
                                           {"large", 24, 1024, 16},
                                           {"genomics", 12, 768, 12},
                                           {"base-etc", 12, 768, 12}}};
    const auto* shape = std::ranges::find(shapes, name, &Shape::name);
    if (shape == shapes.end()) {
        throw ConfigError(
            "no model preset is named '" + name +
            "': choose tiny, tiny-modern, modern, small, base, large, genomics or base-etc, or give a "
            "config.json");
    }
    BigBirdConfig config;
    config.num_hidden_layers = shape->layers;
    config.hidden_size = shape->hidden;
    config.num_attention_heads = shape->heads;
    config.intermediate_size = 4 * shape->hidden;
    if (name.ends_with("modern")) {
        config.form = {.norm = Norm::pre,
                       .positions = Positions::rotary,
                       .initialization = Initialization::fan_in,
                       .embedding_convolution = 3};
        config.hidden_dropout_prob = 0;
    }
    if (name == "base-etc") {
        config.pattern.block_size = 84;
        config.pattern.random_blocks = 0;
        config.extra_global_tokens = 256;
        config.max_position_embeddings = 4116;
        expect_etc(config);
    }
    return config;
}

BigBirdConfig config_of_folder(const std::filesystem::path& directory) {
    const std::filesystem::path where = directory / "config.json";
    const Json json = read_json(where);
    return is_own_config(json) || !json.is_object() ? config_from_json(json, where)
                                                    : published_config(json, weight_shapes(directory), where);
}

BigBirdConfig config_from_json(const Json& json, const std::filesystem::path& where) {
    const Keys keys(json, where);
    const bool is_longformer = read_model_type(keys, where) == "longformer";
    BigBirdConfig config;
    config.vocab_size = 50'358;  // transformers' default if the key is missing
    config.attention_probs_dropout_prob = 0.1;
    if (is_longformer) {  // LongformerConfig's defaults for missing keys
        config.vocab_size = 30'522;
        config.max_position_embeddings = 512;
        config.hidden_act = "gelu";
        config.pad_token_id = 1;
    }
    each_size(config, keys);
    keys("pad_token_id", config.pad_token_id);
    keys("block_size", config.pattern.block_size);
    each_of_form(config.form, keys);
    config.form.published = read_published_form(keys);
    keys("rope_theta", config.form.rotary.theta);
    read_rope_scaling(keys, where, config.form.rotary);
    read_attention_type(keys, is_longformer, config);
    if (!config.longformer) read_pattern(keys, config);
    read_labels(keys, config);
    if (keys.has("bigbird_dna")) config.extra = keys.at("bigbird_dna");
    try {
        config.validate();
    } catch (const ConfigError& error) {
        throw InputError(error.what(), where);
    }
    return config;
}

Json config_to_json(const BigBirdConfig& config, const std::string& architecture) {
    const bool is_own = !config.form.is_big_bird() || config.performer ||
                        (config.longformer && config.longformer->is_dilated());
    const bool of_tokens = architecture == "BigBirdForTokenClassification";
    const bool classifier =
        of_tokens || architecture == "BigBirdForSequenceClassification" || architecture == "BigBirdForBins";
    Json json = {{"architectures", {config.longformer ? of_longformer(architecture) : architecture}},
                 {"model_type", is_own              ? "bigbird_dna"
                                : config.longformer ? "longformer"
                                                    : "big_bird"}};
    const KeyWriter write{json};
    each_size(config, write);
    json.update({{"is_decoder", false},
                 {"tie_word_embeddings", true},
                 {"torch_dtype", "float32"},
                 {"pad_token_id", config.pad_token_id},
                 {"bos_token_id", cls_id},
                 {"eos_token_id", sep_id},
                 {"cls_token_id", cls_id},
                 {"sep_token_id", sep_id},
                 {"mask_token_id", mask_id},
                 {"attention_type", attention_type(config)},
                 {"block_size", config.pattern.block_size}});
    if (config.longformer)
        write_longformer(*config.longformer, json);
    else
        each_of_blocks(config.pattern, write);
    if (is_own) {
        each_of_form(config.form, write);
        write_rotary(config.form.rotary, json);
        write_published_form(config.form.published, json);
        if (config.is_published())
            for (const char* of_ours :
                 {"bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id"})
                json.erase(of_ours);
    }
    if (config.performer) json["performer"] = performer_json(*config.performer);
    if (config.pattern.kind == PatternKind::longformer) each_of_windows(config.pattern, write);
    if (config.extra_global_tokens > 0) json["num_extra_global_tokens"] = config.extra_global_tokens;
    if (classifier) {
        json["num_labels"] = config.num_labels;
        json["problem_type"] = of_tokens ? "single_label_classification" : "multi_label_classification";
        json["classifier_head"] = config.classifier_head;
    }
    json["bigbird_dna"] = config.extra;
    json["bigbird_dna"]["version"] = version();
    return json;
}

}  // namespace bigbird::model
