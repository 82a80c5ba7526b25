// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/longformer.hpp"

#include "bigbird/model/files/config_keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bigbird::model {

namespace {

constexpr std::int64_t most = 1 << 12;  // maximum number of layers and of heads, so that lists of all of them
                                        // fit in memory for any config.json
constexpr int widest = 1 << 24;

bool is_whole(const Json& json) {
    return json.is_number_integer() && json.get<double>() >= -widest && json.get<double>() <= widest;
}

bool is_list_of(const Json& json, bool (*is_item)(const Json&)) {
    return json.is_array() && !json.empty() && std::ranges::all_of(json, is_item);
}

std::size_t count(std::int64_t layers_or_heads) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(layers_or_heads, 0, most));
}

std::vector<int> read_windows(const Keys& keys, std::int64_t layers) {
    constexpr const char* key = "attention_window";
    constexpr int of_transformers = 512;
    if (!keys.has(key)) return std::vector<int>(count(layers), of_transformers);
    const Json& given = keys.at(key);
    keys.require(is_whole(given) || is_list_of(given, is_whole), key,
                 "a whole number or a list of them, one a layer");
    if (given.is_array()) return given.get<std::vector<int>>();
    return std::vector<int>(count(layers), given.get<int>());
}

bool is_layer_of_dilations(const Json& json) {
    return is_whole(json) || is_list_of(json, is_whole);
}

std::vector<std::vector<int>> read_dilations(const Keys& keys, std::int64_t layers, std::int64_t heads) {
    constexpr const char* key = "attention_dilation";
    const auto of_layer = [&](const Json& json) {
        return json.is_array() ? json.get<std::vector<int>>()
                               : std::vector<int>(count(heads), json.get<int>());
    };
    const Json given = keys.has(key) ? keys.at(key) : Json(1);
    keys.require(is_whole(given) || is_list_of(given, is_layer_of_dilations), key,
                 "a whole number, a list of them, one a layer, or a list of lists, one number a head");
    if (!given.is_array()) return std::vector<std::vector<int>>(count(layers), of_layer(given));
    std::vector<std::vector<int>> dilations;
    if (given.size() != count(layers))
        return std::vector<std::vector<int>>(given.size());  // validate() refuses it
    for (const Json& layer : given)
        dilations.push_back(of_layer(layer));
    return dilations;
}

void require_count(std::size_t found, std::int64_t wanted, const std::string& key, const std::string& of) {
    require(static_cast<std::int64_t>(found) == wanted, key + " lists " + std::to_string(found) +
                                                            " numbers, the model has " +
                                                            std::to_string(wanted) + ' ' + of);
}

}  // namespace

bool LongformerForm::is_dilated() const {
    return std::ranges::any_of(
        dilations,
        [](const std::vector<int>& heads) {
            return std::ranges::any_of(
                heads, [](int dilation) { return dilation > 1; });
        });
}

attention::PatternSpec LongformerForm::window(std::int64_t layer, std::int64_t head, int block_size) const {
    attention::PatternSpec spec;
    spec.kind = attention::PatternKind::longformer;
    spec.block_size = block_size;
    spec.window_tokens = windows.at(static_cast<std::size_t>(layer)) / 2;
    spec.dilation = dilations.at(static_cast<std::size_t>(layer)).at(static_cast<std::size_t>(head));
    return spec;
}

void LongformerForm::validate(std::int64_t layers, std::int64_t heads, std::int64_t positions) const {
    require_count(windows.size(), layers, "attention_window", "layers");
    require_count(dilations.size(), layers, "attention_dilation", "layers");
    for (const int window : windows) {
        require(window >= 2 && window % 2 == 0,
                "attention_window must be even and at least 2, not " + std::to_string(window));
        require(window <= positions, "attention_window " + std::to_string(window) +
                                         " is larger than max_position_embeddings " +
                                         std::to_string(positions));
    }
    for (const std::vector<int>& of_layer : dilations) {
        require_count(of_layer.size(), heads, "a layer of attention_dilation", "heads");
        for (const int dilation : of_layer) {
            require(dilation >= 1 && dilation <= positions,
                    "attention_dilation must be between 1 and max_position_embeddings, not " +
                        std::to_string(dilation));
        }
    }
    require(global_tokens.value_or(0) >= 0 && global_tokens.value_or(0) <= positions,
            "num_global_tokens must be between 0 and max_position_embeddings, not " +
                std::to_string(global_tokens.value_or(0)));
}

LongformerForm read_longformer(const Keys& keys, std::int64_t layers, std::int64_t heads) {
    LongformerForm form{.windows = read_windows(keys, layers),
                        .dilations = read_dilations(keys, layers, heads),
                        .global_tokens = std::nullopt};
    keys("num_global_tokens", form.global_tokens);
    return form;
}

void write_longformer(const LongformerForm& form, Json& json) {
    json["attention_window"] = form.windows;
    if (form.is_dilated()) json["attention_dilation"] = form.dilations;
    if (form.global_tokens) json["num_global_tokens"] = *form.global_tokens;
}

namespace {

/// Prefixes of names, ours and theirs; the first match is used.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> beginnings{
    {{"bert.pooler.", "longformer.pooler.dense."},
     {"bert.", "longformer."},
     {"cls.predictions.transform.dense.", "lm_head.dense."},
     {"cls.predictions.transform.LayerNorm.", "lm_head.layer_norm."},
     {"cls.predictions.decoder.", "lm_head.decoder."},
     {"cls.predictions.bias", "lm_head.bias"},
     {"pooler.", "pooler.dense."}}};  // in a bare model

std::string replaced(std::string_view name, std::string_view from, std::string_view to) {
    return std::string(to).append(name.substr(from.size()));
}

}  // namespace

std::string longformer_name(std::string_view ours) {
    for (const auto& [here, there] : beginnings)
        if (ours.starts_with(here)) return replaced(ours, here, there);
    return std::string(ours);
}

std::string name_of_longformer(std::string_view theirs) {
    for (const auto& [here, there] : beginnings)
        if (theirs.starts_with(there)) return replaced(theirs, there, here);
    return std::string(theirs);
}

bool is_longformer_name(std::string_view name) {
    return name.ends_with("attention.self.query_global.weight");
}

}  // namespace bigbird::model
