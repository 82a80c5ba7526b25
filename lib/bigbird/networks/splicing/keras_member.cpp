// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/keras_member.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/networks/files/keras_file.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_graph_layers = 1000;

struct GraphLayer {
    std::string name, kind;
    Json config;
    std::vector<std::string> inputs;
    std::map<std::string, const KerasWeight*> weights{};
};

/// Names of layers in an entry of inbound_nodes: Keras 2 writes lists [name, 0, 0, {}], Keras 3 objects with
/// keras_history.
void collect_inputs(const Json& node, std::vector<std::string>& names) {
    if (node.is_array() && node.size() >= 3 && node[0].is_string() && node[1].is_number_integer()) {
        names.push_back(node[0].get<std::string>());
        return;
    }
    if (node.is_object() && node.contains("keras_history"))
        return collect_inputs(node["keras_history"], names);
    if (node.is_structured())
        for (const Json& item : node)
            collect_inputs(item, names);
}

/// The layers of a file's network, by what they are connected to.
class SpliceGraph {
public:
    SpliceGraph(const KerasFile& file, const fs::path& path) : path_(path) {
        if (file.layers.empty())
            throw InputError("is no model of Keras; SpliceAI's files are spliceai1.h5 to spliceai5.h5", path);
        const Json config = file.config.is_object() ? file.config.value("config", Json()) : Json();
        if (!config.is_object() || !config.contains("layers") || !config["layers"].is_array())
            throw InputError("does not describe its network: save the model, not only its weights", path);
        if (config["layers"].size() > most_graph_layers) refuse("it has too many layers");
        for (const Json& layer : config["layers"])
            add_layer(layer);
        for (const KerasWeight& weight : file.weights)
            if (const auto found = layers_.find(weight.layer); weight.model.empty() && found != layers_.end())
                found->second.weights[weight.kind] = &weight;
        std::vector<std::string> outputs;
        collect_inputs(config.value("output_layers", Json()), outputs);
        if (outputs.size() != 1) refuse("it has several outputs, or none");
        output_ = outputs.front();
    }

    SpliceMember member() {
        SpliceMember member;
        const GraphLayer* layer = &convolution_layer(output_, 1, "softmax");
        member.output = pointwise(*layer);
        layer = &input_of(*layer);
        const std::int64_t cropped = crop_of(*layer);
        if (layer->kind == "Cropping1D") layer = &input_of(*layer);
        std::vector<const GraphLayer*> skips;
        collect_skips(*layer, skips, 0);
        collect_units(member, skips);
        if (member.context() != 2 * cropped)
            refuse("it crops " + std::to_string(cropped) +
                   " positions at each end, where its convolutions reach " +
                   std::to_string(member.context() / 2));
        return member;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw InputError("is no network of SpliceAI's form: " + why, path_);
    }

    void add_layer(const Json& json) {
        GraphLayer layer;
        if (!json.is_object() || !json.contains("config") || !json["config"].is_object())
            refuse("a layer is not described");
        layer.config = json["config"];
        const Json name = layer.config.value("name", Json()), kind = json.value("class_name", Json());
        if (!name.is_string() || !kind.is_string()) refuse("a layer has no name or class");
        layer.name = name.get<std::string>();
        layer.kind = kind.get<std::string>();
        if (json.contains("inbound_nodes")) collect_inputs(json["inbound_nodes"], layer.inputs);
        layers_[layer.name] = std::move(layer);
    }

    const GraphLayer& at(const std::string& name) const {
        const auto found = layers_.find(name);
        if (found == layers_.end()) refuse("it lacks the layer '" + shortened(name) + "'");
        return found->second;
    }
    const GraphLayer& input_of(const GraphLayer& layer) const {
        if (layer.inputs.size() != 1) refuse("the layer '" + shortened(layer.name) + "' has not one input");
        return at(layer.inputs.front());
    }
    void require(const GraphLayer& layer, const char* key, const Json& wanted) const {
        const Json found = layer.config.value(key, wanted);
        if (found != wanted)
            refuse("the layer '" + shortened(layer.name) + "' has " + key + " " + shortened(found.dump()) +
                   ", not " + wanted.dump());
    }
    void require_kind(const GraphLayer& layer, std::string_view kind) const {
        if (layer.kind != kind)
            refuse("the layer '" + shortened(layer.name) + "' is " + shortened(layer.kind) + ", not " +
                   std::string(kind));
    }

    const GraphLayer& convolution_layer(const std::string& name, std::int64_t dilation,
                                        const char* activation) const {
        const GraphLayer& layer = at(name);
        require_kind(layer, "Conv1D");
        require(layer, "activation", activation);
        require(layer, "dilation_rate", Json::array({dilation}));
        require(layer, "strides", Json::array({1}));
        require(layer, "data_format", "channels_last");
        require(layer, "groups", 1);
        require(layer, "use_bias", true);
        return layer;
    }
    const KerasWeight& weight_of(const GraphLayer& layer, const std::string& kind, std::size_t axes) const {
        const auto found = layer.weights.find(kind);
        if (found == layer.weights.end() || found->second->shape.size() != axes)
            refuse("the layer '" + shortened(layer.name) + "' lacks its weights '" + kind + "'");
        return *found->second;
    }
    SpliceConvolution convolution_of(const GraphLayer& layer) const {
        return {weight_of(layer, "kernel", 3).values, weight_of(layer, "bias", 1).values};
    }
    SpliceConvolution pointwise(const GraphLayer& layer) const {
        if (taps_of(layer) != 1)
            refuse("the layer '" + shortened(layer.name) + "' is wider than one position");
        return convolution_of(layer);
    }
    std::int64_t taps_of(const GraphLayer& layer) const {
        const std::int64_t taps = weight_of(layer, "kernel", 3).shape[0];
        require(layer, "kernel_size", Json::array({taps}));
        if (taps > 1) require(layer, "padding", "same");
        return taps;
    }
    std::int64_t dilation_of(const GraphLayer& layer) const {
        const Json dilation = layer.config.value("dilation_rate", Json::array({1}));
        if (!dilation.is_array() || dilation.size() != 1 || !is_whole_number<std::int32_t>(dilation[0]))
            refuse("the layer '" + shortened(layer.name) + "' has no dilation");
        return dilation[0].get<std::int64_t>();
    }
    std::int64_t crop_of(const GraphLayer& layer) const {
        if (layer.kind != "Cropping1D") refuse("its sums are not cropped before the last layer");
        const Json crop = layer.config.value("cropping", Json());
        if (!crop.is_array() || crop.size() != 2 || crop[0] != crop[1] ||
            !is_whole_number<std::int32_t>(crop[0]))
            refuse("it crops unequal ends");
        return crop[0].get<std::int64_t>();
    }

    /// Convolutions whose sum the output reads.
    void collect_skips(const GraphLayer& layer, std::vector<const GraphLayer*>& skips, int depth) const {
        if (depth > static_cast<int>(layers_.size())) refuse("its layers form a circle");
        if (layer.kind != "Add") {
            skips.push_back(&convolution_layer(layer.name, 1, "linear"));
            return;
        }
        if (layer.inputs.size() < 2) refuse("'" + shortened(layer.name) + "' adds fewer than two layers");
        if (layer.inputs.size() + skips.size() > most_graph_layers) refuse("it has too many sums");
        for (const std::string& input : layer.inputs)
            collect_skips(at(input), skips, depth + 1);
    }

    /// Units from the deepest layer that a skip reads down to the first convolution, then skips by their
    /// depth.
    void collect_units(SpliceMember& member, const std::vector<const GraphLayer*>& skips) const {
        std::vector<const GraphLayer*> streams;  // of the deepest skip, backwards
        std::vector<SpliceUnit> units;
        for (const GraphLayer* skip : skips) {
            std::vector<const GraphLayer*> found{&input_of(*skip)};
            std::vector<SpliceUnit> passed;
            while (found.back()->kind == "Add") {
                if (found.size() > layers_.size()) refuse("its layers form a circle");
                found.push_back(&before_unit(*found.back(), passed));
            }
            if (found.size() > streams.size()) std::swap(streams, found), std::swap(units, passed);
        }
        const GraphLayer& first = convolution_layer(streams.back()->name, 1, "linear");
        require_kind(input_of(first), "InputLayer");
        member.input = pointwise(first);
        std::ranges::reverse(units);
        std::ranges::reverse(streams);
        member.units = std::move(units);
        for (const GraphLayer* skip : skips) {
            const auto place = std::ranges::find(streams, &input_of(*skip));
            if (place == streams.end()) refuse("its skip connections do not read one chain of units");
            member.skips.push_back({place - streams.begin(), pointwise(*skip)});
        }
        std::ranges::sort(member.skips, {}, &SpliceSkip::after);
    }

    /// Adds the unit whose sum `sum` is, and returns the layer that it begins with.
    const GraphLayer& before_unit(const GraphLayer& sum, std::vector<SpliceUnit>& units) const {
        if (sum.inputs.size() != 2) refuse("'" + shortened(sum.name) + "' adds not two layers");
        const bool second_last = is_branch(at(sum.inputs[1]));
        const GraphLayer &end = at(sum.inputs[second_last ? 1 : 0]),
                         &base = at(sum.inputs[second_last ? 0 : 1]);
        SpliceUnit unit;
        unit.dilation = dilation_of(end);
        const GraphLayer& second = convolution_layer(end.name, unit.dilation, "linear");
        const GraphLayer& norm2 = activated_norm(input_of(second));
        const GraphLayer& first = convolution_layer(input_of(norm2).name, unit.dilation, "linear");
        const GraphLayer& norm1 = activated_norm(input_of(first));
        if (&input_of(norm1) != &base)
            refuse("the unit before '" + shortened(sum.name) + "' does not read what it is added to");
        unit.taps = taps_of(second);
        if (taps_of(first) != unit.taps)
            refuse("the unit before '" + shortened(sum.name) + "' has two widths");
        unit.norm = affine(norm1);
        unit.first = folded(convolution_of(first), affine(norm2), path_);
        unit.second = convolution_of(second);
        units.push_back(std::move(unit));
        return base;
    }

    bool is_branch(const GraphLayer& layer) const {
        return layer.kind == "Conv1D" && layer.inputs.size() == 1 &&
               (at(layer.inputs[0]).kind == "Activation" || at(layer.inputs[0]).kind == "ReLU");
    }
    const GraphLayer& activated_norm(const GraphLayer& activation) const {
        if (activation.kind == "ReLU") {
            require(activation, "negative_slope", 0.0);
            require(activation, "threshold", 0.0);
            require(activation, "max_value", Json());
        } else {
            require_kind(activation, "Activation");
            require(activation, "activation", "relu");
        }
        const GraphLayer& norm = input_of(activation);
        require_kind(norm, "BatchNormalization");
        return norm;
    }
    SpliceAffine affine(const GraphLayer& norm) const {
        const Json epsilon = norm.config.value("epsilon", Json());
        if (!epsilon.is_number() || epsilon.get<double>() < 0)
            refuse("'" + shortened(norm.name) + "' has no epsilon");
        const auto values = [&](const char* kind) { return weight_of(norm, kind, 1).values; };
        const auto gamma = values("gamma"), beta = values("beta"), mean = values("moving_mean"),
                   variance = values("moving_variance");
        return affine_of(gamma, beta, mean, variance, epsilon.get<double>(), path_);
    }

    const fs::path& path_;
    std::map<std::string, GraphLayer> layers_;
    std::string output_;
};

}  // namespace

SpliceMember read_keras_member(const fs::path& path) {
    const KerasFile file =
        read_keras_file(path, [&](const KerasFile& head) { const SpliceGraph graph(head, path); });
    SpliceMember member = SpliceGraph(file, path).member();
    validate(member, path);
    return member;
}

}  // namespace bigbird::networks
