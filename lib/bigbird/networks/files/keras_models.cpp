// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/keras_models.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/networks/files/keras_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

// What the authors' networks read and predict by default; for files without a description.
constexpr std::int64_t usual_input = 2114, usual_output = 1000;
constexpr std::int64_t most_keras_layers = 16;
constexpr const char* model_advice = "; give the .h5 file of a ChromBPNet or BPNet model";

/// What the layers of a form of network are called.
struct LayerNames {
    std::string stem, before_number, after_number, profile, crop, counts;

    std::string layer(std::int64_t number) const {
        return before_number + std::to_string(number) + after_number;
    }
};

const LayerNames bias_names{
    "bpnet_1st_conv",      "bpnet_", "conv", "prof_out_precrop", "logits_profile_predictions_preflatten",
    "logcount_predictions"};
const LayerNames nobias_names{"wo_bias_bpnet_1st_conv",
                              "wo_bias_bpnet_",
                              "conv",
                              "wo_bias_bpnet_prof_out_precrop",
                              "wo_bias_bpnet_logitt_before_flatten",
                              "wo_bias_bpnet_logcount_predictions"};

LayerNames bpnet_names(const std::string& prefix, bool controls) {
    return {prefix + "_conv_0",
            prefix + "_dil_conv_",
            "",
            prefix + "_profile_head",
            controls ? prefix + "_profile_head_cropped" : "profile_predictions",
            controls ? prefix + "_counts_head" : "logcounts_predictions"};
}

bool any_starts_with(const std::vector<std::string>& names, std::string_view start) {
    return std::ranges::any_of(
        names, [&](const std::string& name) { return name.starts_with(start); });
}

bool has_name(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// The text before `_conv_0` in a file of BPNet; nullopt for other files.
std::optional<std::string> bpnet_prefix(const KerasFile& file) {
    constexpr std::string_view ending = "_conv_0";
    for (const std::string& layer : file.layers)
        if (layer.ends_with(ending) && !layer.ends_with("_dil_conv_0"))
            return layer.substr(0, layer.size() - ending.size());
    return std::nullopt;
}

/// The nested model with a layer; nullopt if there is none.
std::optional<std::string> model_with(const KerasFile& file, const std::string& layer) {
    for (const KerasWeight& weight : file.weights)
        if (weight.layer == layer) return weight.model;
    return std::nullopt;
}

/// Throws InputError that says what an HDF5 file without layers of Keras is.
[[noreturn]] void refuse_other_content(const KerasFile& file, const fs::path& path) {
    const auto& names = file.contents;
    if (has_name(names, "projected_shap") || has_name(names, "shap"))
        throw InputError(
            "holds contributions (SHAP) that a model gave, not the model" + std::string(model_advice), path);
    if (has_name(names, "predictions") || has_name(names, "coords"))
        throw InputError("holds predictions of a model, not the model" + std::string(model_advice), path);
    if (has_name(names, "layers") && has_name(names, "vars"))
        throw InputError(
            "holds weights of Keras 3 without names; save the whole model: model.save('model.h5')", path);
    throw InputError("is an HDF5 file, but not of a model that Keras wrote (at its root: " +
                         (names.empty() ? "nothing" : listed(names)) + ")" + model_advice,
                     path);
}

/// Columns of the profile's convolution, before anything is added to them.
struct Trunked {
    ProfilePart part;
    LayerWeights profile, counts;
};

std::int64_t layers_in(const KerasLayers& layers, const LayerNames& names) {
    std::int64_t count = 0;
    while (layers.has_weights(names.layer(count + 1)))
        if (++count > most_keras_layers) layers.refuse("has more dilated layers than are supported");
    return count;
}

/// Everything that ChromBPNet and BPNet share.
Trunked read_trunk(KerasLayers& layers, const LayerNames& names, Trunk trunk, const std::string& name) {
    const bool active = trunk == Trunk::relu_after;
    const char* const activation = active ? "relu" : "linear";
    Trunked read{.part = {.name = name, .shape = {.trunk = trunk}}, .profile = {}, .counts = {}};
    ProfileShape& shape = read.part.shape;
    LayerWeights stem = layers.convolution(names.stem, activation);
    shape.filters = stem.weight.shape[0];
    shape.stem = stem.weight.shape[2];
    if (stem.weight.shape[1] != 4)
        layers.refuse("does not read one-hot letters: its first layer has " +
                      counted(stem.weight.shape[1], "channel"));
    read.part.weights["stem.weight"] = std::move(stem.weight);
    read.part.weights["stem.bias"] = std::move(stem.bias);
    shape.layers = layers_in(layers, names);
    for (std::int64_t i = 0; i < shape.layers; ++i) {
        LayerWeights layer = layers.convolution(names.layer(i + 1), activation, shape.dilation(i));
        if (layer.weight.shape != std::vector<std::int64_t>{shape.filters, shape.filters, 3})
            layers.refuse("has weights of an unexpected shape in the layer '" + names.layer(i + 1) + "'");
        const std::string stored = "layers." + std::to_string(i);
        read.part.weights[stored + ".weight"] = std::move(layer.weight);
        read.part.weights[stored + ".bias"] = std::move(layer.bias);
    }
    read.profile = layers.convolution(names.profile, "linear");
    read.counts = layers.dense(names.counts);
    if (read.profile.weight.shape[1] != shape.filters || read.counts.weight.shape[1] != shape.filters)
        layers.refuse("has heads that do not fit its " + counted(shape.filters, "filter"));
    if (layers.is_described() && !layers.has_kind("GlobalAveragePooling1D"))
        layers.refuse("does not average positions for its counts, as networks of this family do");
    shape.head = read.profile.weight.shape[2];
    shape.input = layers.input().value_or(usual_input);
    shape.counts = shape.trunk_positions(shape.layers);
    const std::int64_t whole = shape.counts - shape.head + 1;
    const std::optional<std::int64_t> cut = layers.crop(names.crop);
    shape.output = cut ? whole - 2 * *cut : usual_output;
    return read;
}

ProfilePart finished(Trunked read) {
    ProfilePart part = std::move(read.part);
    part.weights["profile.weight"] = std::move(read.profile.weight);
    part.weights["profile.bias"] = std::move(read.profile.bias);
    part.weights["counts.weight"] = std::move(read.counts.weight);
    part.weights["counts.bias"] = std::move(read.counts.bias);
    part.shape.validate();
    return part;
}

ProfilePart read_chrombpnet_part(const KerasFile& file, const std::string& model, bool nobias,
                                 const fs::path& path) {
    KerasLayers layers(file, model, path);
    Trunked read =
        read_trunk(layers, nobias ? nobias_names : bias_names, Trunk::relu_after, nobias ? "nobias" : "bias");
    layers.require_all_known();
    if (read.profile.weight.shape[0] != 1 || read.counts.weight.shape[0] != 1)
        layers.refuse("gives several profiles, where ChromBPNet gives one");
    return finished(std::move(read));
}

/// The joining layers, by class and name; the Lambda's function stays unread.
void require_joining_layers(const KerasFile& file, const fs::path& path) {
    const KerasLayers outer(file, "", path);
    if (!outer.is_described()) return;
    constexpr std::array<std::pair<const char*, const char*>, 2> wanted{
        {{"logits_profile_predictions", "Add"}, {"logcount_predictions", "Lambda"}}};
    for (const auto& [layer, kind] : wanted)
        if (outer.kind_of(layer) != kind)
            outer.refuse("holds two models, but not joined as ChromBPNet joins them: it has no layer '" +
                         std::string(layer) + "' of the class " + kind);
}

ProfileModel read_chrombpnet(const KerasFile& file, const fs::path& path) {
    const auto nobias = model_with(file, nobias_names.stem), bias = model_with(file, bias_names.stem);
    ProfileModel model{.family = "ChromBPNet", .parts = {}, .sha256 = ""};
    if (nobias && bias && *nobias == *bias)
        throw InputError("holds two networks in one model, in a form that is not known", path);
    if (nobias) model.parts.push_back(read_chrombpnet_part(file, *nobias, true, path));
    if (bias) model.parts.push_back(read_chrombpnet_part(file, *bias, false, path));
    if (!nobias || !bias) return model;
    require_joining_layers(file, path);
    const ProfileShape &first = model.parts[0].shape, &second = model.parts[1].shape;
    if (first.input != second.input || first.output != second.output)
        throw InputError("joins two networks whose windows differ", path);
    model.source["bias_model"] = *bias;
    return model;
}

/// The convolution of one base that adds controls, with controls of zero, folded into the profile's layer.
void fold_profile_control(KerasLayers& layers, Trunked& read, const LayerWeights& control) {
    const std::int64_t strands = read.profile.weight.shape[0], filters = read.profile.weight.shape[1],
                       width = read.profile.weight.shape[2], inputs = control.weight.shape[1];
    if (control.weight.shape[2] != 1)
        layers.refuse("smooths its control over " + counted(control.weight.shape[2], "base") +
                      ", which is not supported");
    if (control.weight.shape[0] != strands || inputs <= strands)
        layers.refuse("has weights of an unexpected shape in the layer 'profile_predictions'");
    const std::size_t each = static_cast<std::size_t>(filters * width);
    const StoredTensor weight = read.profile.weight, bias = read.profile.bias;
    for (std::int64_t out = 0; out < strands; ++out) {
        std::vector<double> sums(each, 0.0);
        double of_bias = control.bias.values[static_cast<std::size_t>(out)];
        for (std::int64_t in = 0; in < strands; ++in) {
            const double factor = control.weight.values[static_cast<std::size_t>(out * inputs + in)];
            const float* const from = weight.values.data() + static_cast<std::size_t>(in) * each;
            for (std::size_t i = 0; i < each; ++i)
                sums[i] += factor * from[i];
            of_bias += factor * bias.values[static_cast<std::size_t>(in)];
        }
        std::ranges::transform(sums,
                               read.profile.weight.values.begin() + out * static_cast<std::int64_t>(each),
                               [](double value) { return static_cast<float>(value); });
        read.profile.bias.values[static_cast<std::size_t>(out)] = static_cast<float>(of_bias);
    }
}

/// The layer that adds ln(sum over tracks of 1 + reads) of the control, which is the logarithm of their
/// number where all are zero.
void fold_counts_control(KerasLayers& layers, Trunked& read, const LayerWeights& control,
                         std::int64_t tracks) {
    if (read.counts.weight.shape[0] != 1 || control.weight.shape != std::vector<std::int64_t>{1, 2})
        layers.refuse("gives log counts of each strand (orig_multi_loss), which is not supported");
    const double factor = control.weight.values[0], of_control = control.weight.values[1];
    for (float& weight : read.counts.weight.values)
        weight = static_cast<float>(factor * weight);
    read.counts.bias.values[0] =
        static_cast<float>(factor * read.counts.bias.values[0] +
                           of_control * std::log(static_cast<double>(tracks)) + control.bias.values[0]);
}

void refuse_other_bpnets(const KerasFile& file, const std::string& prefix, const fs::path& path) {
    if (any_starts_with(file.layers, "profile_predictions_") ||
        any_starts_with(file.layers, prefix + "_prof_head_"))
        throw InputError("is a BPNet of several tasks, which is not supported; take one of a single task",
                         path);
    if (std::ranges::any_of(file.layers, [](const std::string& name) { return name.ends_with("_relu_cr"); }))
        throw InputError(
            "is a BPNet without pre-activation (pre_activation_residual_unit false), which is not "
            "supported",
            path);
}

ProfileModel read_bpnet(const KerasFile& file, const std::string& prefix, const fs::path& path) {
    refuse_other_bpnets(file, prefix, path);
    KerasLayers layers(file, "", path);
    const bool controls = layers.has_weights("profile_predictions");
    Trunked read = read_trunk(layers, bpnet_names(prefix, controls), Trunk::relu_before, "");
    const std::int64_t strands = read.profile.weight.shape[0];
    ProfileModel model{.family = "BPNet", .parts = {}, .sha256 = ""};
    if (controls) {
        const LayerWeights control = layers.convolution("profile_predictions", "linear");
        const std::int64_t tracks = control.weight.shape[1] - strands;
        fold_profile_control(layers, read, control);
        fold_counts_control(layers, read, layers.dense("logcounts_predictions"), tracks);
        model.source["control_tracks"] = tracks;
    } else if (read.counts.weight.shape[0] != 1) {
        layers.refuse("gives several log counts, which is not supported");
    }
    layers.require_all_known();
    read.part.shape.groups = {strands};
    // It learns ln(sum over strands of 1 + reads).
    read.part.shape.count_offset = static_cast<double>(strands);
    model.parts.push_back(finished(std::move(read)));
    return model;
}

}  // namespace

void require_known_form(const KerasFile& file, const fs::path& path) {
    if (file.layers.empty()) refuse_other_content(file, path);
    if (model_with(file, nobias_names.stem) || model_with(file, bias_names.stem)) return;
    if (bpnet_prefix(file)) return;
    const bool lite = std::ranges::any_of(
        file.weights, [](const KerasWeight& weight) { return weight.layer.starts_with("conv1d_1"); });
    const bool has_batch_norms = std::ranges::any_of(
        file.weights, [](const KerasWeight& weight) { return weight.kind == "moving_mean"; });
    if (lite && has_batch_norms)
        throw InputError("is a splice model of SpliceAI's form: predict-splicing takes it, with --annotation",
                         path);
    if (lite)
        throw InputError(
            "is a model of chrombpnet-lite, whose layers differ from ChromBPNet's and which is not "
            "supported; "
            "take a ChromBPNet model of the experiment",
            path);
    throw InputError("holds a Keras model that is none of ChromBPNet or BPNet (layers " +
                         listed(file.layers) + ")" + model_advice,
                     path);
}

ProfileModel keras_model_in(const KerasFile& file, const fs::path& path) {
    ProfileModel model;
    try {
        const bool of_chrombpnet =
            model_with(file, nobias_names.stem).has_value() || model_with(file, bias_names.stem).has_value();
        model = of_chrombpnet ? read_chrombpnet(file, path) : read_bpnet(file, *bpnet_prefix(file), path);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), path);
    }
    if (!file.keras_version.empty()) model.source["keras_version"] = file.keras_version;
    if (!KerasLayers(file, "", path).is_described())
        model.source["assumed"] =
            "the file does not describe its network: windows of 2114 bases, profiles of "
            "1000 and dilations of 2, 4, 8, … are assumed";
    return model;
}

ProfileModel read_keras_model(const fs::path& path) {
    ProfileModel model = keras_model_in(
        read_keras_file(path, [&](const KerasFile& head) { require_known_form(head, path); }), path);
    model.sha256 = sha256_of_file(path);
    return model;
}

}  // namespace bigbird::networks
