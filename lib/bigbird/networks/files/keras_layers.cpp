// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/keras_layers.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/words.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::networks {

namespace {

/// Keras writes a tuple as a list, or as an object with its items.
const Json& items_of(const Json& value) {
    return value.is_object() && value.contains("items") ? value["items"] : value;
}

/// The object that describes layers, of the file's own model or of one within it.
const Json* described_model(const Json& config, const std::string& model) {
    if (!config.is_object() || !config.contains("config") || !config["config"].is_object()) return nullptr;
    const Json& own = config["config"];
    if (!own.contains("layers") || !own["layers"].is_array()) return nullptr;
    if (model.empty()) return &own;
    for (const Json& layer : own["layers"])
        if (layer.is_object() && layer.contains("config") && layer["config"].is_object() &&
            layer["config"].value("name", Json()) == model && layer["config"].contains("layers"))
            return &layer["config"];
    return nullptr;
}

std::string text_at(const Json& object, const char* key) {
    const Json value = object.value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
}

StoredTensor bias_tensor(const KerasWeight& bias) {
    return {bias.shape, bias.values};
}

}  // namespace

KerasLayers::KerasLayers(const KerasFile& file, const std::string& model, const std::filesystem::path& path)
    : path_(path) {
    for (const KerasWeight& weight : file.weights) {
        if (weight.model != model) continue;
        Stored& stored = kernels_[weight.layer];
        (weight.kind == "bias" ? stored.bias : stored.kernel) = &weight;
    }
    const Json* const described = described_model(file.config, model);
    if (described == nullptr) return;
    for (const Json& layer : described->at("layers")) {
        if (!layer.is_object() || !layer.contains("config") || !layer["config"].is_object()) continue;
        described_[text_at(layer["config"], "name")] = {text_at(layer, "class_name"), layer["config"]};
    }
}

std::string KerasLayers::kind_of(const std::string& layer) const {
    const auto found = described_.find(layer);
    return found == described_.end() ? std::string() : found->second.kind;
}

bool KerasLayers::has_kind(std::string_view kind) const {
    return std::ranges::any_of(
        described_, [&](const auto& layer) { return layer.second.kind == kind; });
}

const KerasLayers::Stored& KerasLayers::stored(const std::string& layer, std::size_t axes) {
    const auto found = kernels_.find(layer);
    const Stored* const weights = found == kernels_.end() ? nullptr : &found->second;
    if (weights == nullptr || weights->kernel == nullptr || weights->kernel->kind != "kernel")
        refuse("lacks the weights of the layer '" + layer + "'");
    if (weights->bias == nullptr) refuse("lacks the bias of the layer '" + layer + "'");
    const auto& shape = weights->kernel->shape;
    if (shape.size() != axes || weights->bias->shape != std::vector{shape.back()})
        refuse("has weights of an unexpected shape in the layer '" + layer + "'");
    known_.insert(layer);
    return *weights;
}

const Json* KerasLayers::config_of(const std::string& layer, std::string_view kind) const {
    const auto found = described_.find(layer);
    if (found == described_.end()) {
        if (is_described()) refuse("does not describe its layer '" + layer + "'");
        return nullptr;
    }
    if (found->second.kind != kind)
        refuse("has a layer '" + layer + "' of the class " + shortened(found->second.kind) +
               ", where networks of this family have " + std::string(kind));
    return &found->second.config;
}

void KerasLayers::require(const std::string& layer, const Json& config, const char* key,
                          const Json& wanted) const {
    const Json& found = items_of(config.contains(key) ? config[key] : wanted);
    if (found != wanted)
        refuse("has the layer '" + layer + "' with " + key + " " + shortened(found.dump()) +
               ", where networks of this family have " + wanted.dump());
}

/// The type is a name, or in Keras 3 an object with one.
void KerasLayers::require_float32(const std::string& layer, const Json& config) const {
    Json type = config.value("dtype", Json("float32"));
    if (type.is_object() && type.contains("config") && type["config"].is_object())
        type = type["config"].value("name", Json());
    if (type != "float32")
        refuse("computes the layer '" + layer + "' in " + shortened(type.dump()) + ", not in float32");
}

LayerWeights KerasLayers::convolution(const std::string& layer, std::string_view activation,
                                      std::int64_t dilation) {
    const Stored& found = stored(layer, 3);
    const std::int64_t width = found.kernel->shape[0], in = found.kernel->shape[1],
                       out = found.kernel->shape[2];
    if (const Json* const config = config_of(layer, "Conv1D")) {
        require_float32(layer, *config);
        require(layer, *config, "kernel_size", Json::array({width}));
        require(layer, *config, "dilation_rate", Json::array({dilation}));
        require(layer, *config, "strides", Json::array({1}));
        require(layer, *config, "padding", "valid");
        require(layer, *config, "groups", 1);
        require(layer, *config, "data_format", "channels_last");
        require(layer, *config, "activation", activation);
    }
    LayerWeights weights{{{out, in, width}, std::vector<float>(found.kernel->values.size())},
                         bias_tensor(*found.bias)};
    const std::vector<float>& from = found.kernel->values;
    for (std::int64_t w = 0, at = 0; w < width; ++w)
        for (std::int64_t i = 0; i < in; ++i)
            for (std::int64_t o = 0; o < out; ++o, ++at)
                weights.weight.values[static_cast<std::size_t>((o * in + i) * width + w)] =
                    from[static_cast<std::size_t>(at)];
    return weights;
}

LayerWeights KerasLayers::dense(const std::string& layer) {
    const Stored& found = stored(layer, 2);
    const std::int64_t in = found.kernel->shape[0], out = found.kernel->shape[1];
    if (const Json* const config = config_of(layer, "Dense")) {
        require_float32(layer, *config);
        require(layer, *config, "activation", "linear");
    }
    LayerWeights weights{{{out, in}, std::vector<float>(found.kernel->values.size())},
                         bias_tensor(*found.bias)};
    for (std::int64_t i = 0; i < in; ++i)
        for (std::int64_t o = 0; o < out; ++o)
            weights.weight.values[static_cast<std::size_t>(o * in + i)] =
                found.kernel->values[static_cast<std::size_t>(i * out + o)];
    return weights;
}

std::optional<std::int64_t> KerasLayers::input() const {
    const Json* const config = config_of("sequence", "InputLayer");
    if (config == nullptr) return std::nullopt;
    const char* const key = config->contains("batch_shape") ? "batch_shape" : "batch_input_shape";
    const Json value = config->value(key, Json()), &shape = items_of(value);
    if (!shape.is_array() || shape.size() != 3 || !is_whole_number<std::int64_t>(shape[1]) || shape[2] != 4)
        refuse("does not say how many bases its network reads");
    return shape[1].get<std::int64_t>();
}

std::optional<std::int64_t> KerasLayers::crop(const std::string& layer) const {
    const Json* const config = config_of(layer, "Cropping1D");
    if (config == nullptr) return std::nullopt;
    const Json value = config->value("cropping", Json()), &sides = items_of(value);
    if (!sides.is_array() || sides.size() != 2 || !is_whole_number<std::int32_t>(sides[0]) ||
        sides[0] != sides[1])
        refuse("crops unequal ends in the layer '" + layer + "'");
    return sides[0].get<std::int64_t>();
}

void KerasLayers::require_all_known() const {
    std::vector<std::string> others;
    for (const auto& layer : kernels_)
        if (!known_.contains(layer.first)) others.push_back(layer.first);
    if (!others.empty()) refuse("has layers that networks of this family do not have: " + listed(others));
}

}  // namespace bigbird::networks
