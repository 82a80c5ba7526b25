// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/torch_models.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/networks/files/torch_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

/// Both packages train on windows of this length by default; their files do not tell.
constexpr std::int64_t usual_window = 2114;
constexpr std::int64_t most_torch_layers = 16;
/// Positions behind each end of the profile that bpnet-lite averages for its counts.
constexpr std::int64_t count_margin = 37;
constexpr const char* assumed_window =
    "the file does not tell the length of its windows: 2114 bases, the default of its package, are assumed";

/// Weights of a file under a prefix, which each is taken from once.
class TorchWeights {
public:
    TorchWeights(const TorchFile& file, std::string prefix, const fs::path& path)
        : file_(file), prefix_(std::move(prefix)), path_(path) {}

    bool has(const std::string& name) const { return file_.tensors().contains(prefix_ + name); }
    StoredTensor take(const std::string& name, std::size_t axes) const {
        const auto found = file_.tensors().find(prefix_ + name);
        if (found == file_.tensors().end()) refuse("lacks the weights '" + prefix_ + name + "'");
        const std::vector<std::int64_t>& shape = found->second.shape;
        if (shape.size() != axes || std::ranges::find(shape, 0) != shape.end())
            refuse("has weights of an unexpected shape, '" + prefix_ + name + "'");
        return {shape, found->second.floats()};
    }
    /// The first dimension of the weights gives a bias's size; zeros where the file has no bias.
    StoredTensor take_bias(const std::string& name, const StoredTensor& weight) const {
        const std::vector<std::int64_t> size{weight.shape.front()};
        if (!has(name)) return {size, std::vector<float>(static_cast<std::size_t>(size[0]), 0.0F)};
        StoredTensor bias = take(name, 1);
        if (bias.shape != size) refuse("has weights of an unexpected shape, '" + prefix_ + name + "'");
        return bias;
    }
    void require_shape(const std::string& name, const StoredTensor& found,
                       const std::vector<std::int64_t>& wanted) const {
        if (found.shape != wanted) refuse("has weights of an unexpected shape, '" + prefix_ + name + "'");
    }
    [[noreturn]] void refuse(const std::string& what) const { throw InputError(what, path_); }

private:
    const TorchFile& file_;
    std::string prefix_;
    const fs::path& path_;
};

std::int64_t layers_with(const TorchWeights& weights, const std::string& before, const std::string& after) {
    std::int64_t count = 0;
    while (weights.has(before + std::to_string(count) + after))
        if (++count > most_torch_layers) weights.refuse("has more layers than are supported");
    return count;
}

/// Keeps the first `kept` of the second axis: what follows is for controls, which are zero.
StoredTensor without_controls(const StoredTensor& from, std::int64_t kept) {
    StoredTensor to{from.shape, {}};
    to.shape[1] = kept;
    const std::int64_t inner =
        std::accumulate(from.shape.begin() + 2, from.shape.end(), std::int64_t{1}, std::multiplies<>());
    for (std::int64_t row = 0; row < from.shape[0]; ++row) {
        const auto begin = from.values.begin() + row * from.shape[1] * inner;
        to.values.insert(to.values.end(), begin, begin + kept * inner);
    }
    return to;
}

/// Stem and heads, which all of these networks name alike. `of_control`: what a control of zero gives the
/// last column of the counts.
std::int64_t take_stem_and_heads(const TorchWeights& from, ProfilePart& part, double of_control) {
    ProfileShape& shape = part.shape;
    StoredTensor stem = from.take("iconv.weight", 3), profile = from.take("fconv.weight", 3),
                 counts = from.take("linear.weight", 2);
    shape.filters = stem.shape[0];
    shape.stem = stem.shape[2];
    shape.head = profile.shape[2];
    from.require_shape("iconv.weight", stem, {shape.filters, 4, shape.stem});
    const std::int64_t controls = profile.shape[1] - shape.filters, of_counts = controls > 0 ? 1 : 0;
    if (controls < 0 || counts.shape[1] != shape.filters + of_counts)
        from.refuse("has heads that do not fit its " + counted(shape.filters, "filter"));
    StoredTensor bias = from.take_bias("linear.bias", counts);
    if (controls > 0)
        for (std::int64_t group = 0; group < counts.shape[0]; ++group)
            bias.values[static_cast<std::size_t>(group)] += static_cast<float>(
                of_control * counts.values[static_cast<std::size_t>((group + 1) * counts.shape[1] - 1)]);
    part.weights["stem.bias"] = from.take_bias("iconv.bias", stem);
    part.weights["stem.weight"] = std::move(stem);
    part.weights["profile.bias"] = from.take_bias("fconv.bias", profile);
    part.weights["profile.weight"] = without_controls(profile, shape.filters);
    part.weights["counts.bias"] = std::move(bias);
    part.weights["counts.weight"] = without_controls(counts, shape.filters);
    return controls;
}

/// Positions that a network leaves out at each end of its windows.
std::int64_t trimming_in(const Json& values, std::int64_t otherwise, const fs::path& path) {
    const std::int64_t trimming = values.contains("trimming") && !values["trimming"].is_null()
                                      ? whole_number(values, "trimming")
                                      : otherwise;
    if (trimming < 0 || trimming >= usual_window / 2)
        throw InputError("trims " + std::to_string(trimming) + " positions of each end of windows of " +
                             std::to_string(usual_window) + ": nothing is left",
                         path);
    return trimming;
}

std::int64_t columns_of(const ProfilePart& part) {
    return part.weights.at("profile.weight").shape[0];
}
std::int64_t groups_of(const ProfilePart& part) {
    return part.weights.at("counts.weight").shape[0];
}

// ---- Cherimoya

/// Older files have the number of outputs, and whether these share one count.
std::vector<std::int64_t> groups_in(const Json& config, const ProfilePart& part, const fs::path& path) {
    const std::int64_t columns = columns_of(part), groups = groups_of(part);
    std::vector<std::int64_t> found;
    if (config.contains("signal_groups")) {
        for (const Json& group : config["signal_groups"])
            found.push_back(is_whole_number<std::int32_t>(group) ? group.get<std::int64_t>() : 0);
    } else {
        found = groups == 1 ? std::vector{columns}
                            : std::vector<std::int64_t>(static_cast<std::size_t>(columns), 1);
    }
    if (static_cast<std::int64_t>(found.size()) != groups ||
        std::accumulate(found.begin(), found.end(), std::int64_t{0}) != columns)
        throw InputError("has heads that do not fit its groups of columns", path);
    return found;
}

void take_cherimoya_layers(const TorchWeights& from, ProfilePart& part) {
    ProfileShape& shape = part.shape;
    shape.layers = layers_with(from, "blocks.", ".linear1.weight");
    for (std::int64_t i = 0; i < shape.layers; ++i) {
        const std::string block = "blocks." + std::to_string(i), stored = "layers." + std::to_string(i);
        const std::string taps_name =
            block + (from.has(block + ".conv_weight") ? ".conv_weight" : ".conv.conv_weight");
        StoredTensor taps = from.take(taps_name, 2), first = from.take(block + ".linear1.weight", 2),
                     second = from.take(block + ".linear2.weight", 2);
        if (i == 0) shape.expansion = first.shape[0] / shape.filters;
        const std::int64_t inner = shape.expansion * shape.filters;
        from.require_shape(taps_name, taps, {3, shape.filters});
        from.require_shape(block + ".linear1.weight", first, {inner, shape.filters});
        from.require_shape(block + ".linear2.weight", second, {shape.filters, inner});
        if (from.has(block + ".linear1.bias") || from.has(block + ".linear2.bias"))
            from.refuse("has biases in its blocks, which Cherimoya's do not have");
        part.weights[stored + ".taps"] = std::move(taps);
        part.weights[stored + ".linear1.weight"] = std::move(first);
        part.weights[stored + ".linear2.weight"] = std::move(second);
    }
}

/// config: of the constructor; an empty object for weights alone.
ProfileModel read_cherimoya(const TorchFile& file, const std::string& prefix, const Json& config,
                            const fs::path& path) {
    const TorchWeights from(file, prefix, path);
    ProfilePart part{.name = "", .shape = {.trunk = Trunk::cherimoya}};
    ProfileShape& shape = part.shape;
    const std::int64_t controls = take_stem_and_heads(from, part, 0);
    take_cherimoya_layers(from, part);
    shape.groups = groups_in(config, part, path);
    const std::int64_t trimming = trimming_in(config, 46 + (std::int64_t{1} << shape.layers) - 1, path);
    shape.input = usual_window;
    shape.output = shape.counts = usual_window - 2 * trimming;
    if (config.contains("residual_scale")) shape.residual_scale = config["residual_scale"].get<double>();
    if (config.contains("n_layers") && whole_number(config, "n_layers") != shape.layers)
        throw InputError("has weights of " + counted(shape.layers, "block") + ", and says that it has others",
                         path);
    ProfileModel model{.family = "Cherimoya", .parts = {}, .sha256 = ""};
    model.source["assumed"] = assumed_window;
    if (controls > 0) model.source["control_tracks"] = controls;
    shape.validate();
    model.parts.push_back(std::move(part));
    return model;
}

// ---- bpnet-lite

/// The object of a module's values under a prefix such as "model.bias.".
const Json& module_at(const TorchFile& file, const std::string& prefix) {
    static const Json nothing = Json::object();
    const Json* at = &file.values();
    for (std::size_t begin = 0; begin < prefix.size();) {
        const std::size_t dot = prefix.find('.', begin);
        const std::string key = prefix.substr(begin, dot - begin);
        if (!at->is_object() || !at->contains(key)) return nothing;
        at = &at->at(key);
        begin = dot + 1;
    }
    return *at;
}

bool is_module(const Json& values) {
    return values.is_object() && values.contains("class");
}

void take_lite_layers(const TorchWeights& from, ProfilePart& part) {
    ProfileShape& shape = part.shape;
    shape.layers = layers_with(from, "rconvs.", ".weight");
    for (std::int64_t i = 0; i < shape.layers; ++i) {
        const std::string name = "rconvs." + std::to_string(i), stored = "layers." + std::to_string(i);
        StoredTensor weight = from.take(name + ".weight", 3);
        from.require_shape(name + ".weight", weight, {shape.filters, shape.filters, 3});
        part.weights[stored + ".bias"] = from.take_bias(name + ".bias", weight);
        part.weights[stored + ".weight"] = std::move(weight);
    }
}

struct LitePart {
    ProfilePart part;
    std::int64_t controls = 0;
};

/// One network of bpnet-lite. It pads with zeros, but positions of its output see none of them if it trims
/// enough.
LitePart read_lite_part(const TorchFile& file, const std::string& prefix, const std::string& name,
                        const fs::path& path) {
    const TorchWeights from(file, prefix, path);
    const Json& module = module_at(file, prefix);
    const auto kind = module.value("class", std::string());
    const bool ported = kind.ends_with(".BasePairNet");
    if (!ported && !kind.ends_with(".BPNet"))
        from.refuse("is a model of the class " + kind +
                    ", where BPNet, BasePairNet or ChromBPNet of bpnet-lite are read");
    LitePart read{{.name = name, .shape = {.trunk = ported ? Trunk::relu_before : Trunk::relu_after}}, 0};
    ProfileShape& shape = read.part.shape;
    // A control of zero gives ln(1 + 0), in BasePairNet ln(2 + 0).
    read.controls = take_stem_and_heads(from, read.part, ported ? std::log(2.0) : 0);
    take_lite_layers(from, read.part);
    if (groups_of(read.part) != 1)
        from.refuse("gives several log counts, which bpnet-lite's networks do not");
    const std::int64_t columns = columns_of(read.part),
                       reach = shape.stem / 2 + std::max(shape.head / 2, count_margin) +
                               (std::int64_t{2} << shape.layers) - 2,
                       trimming = trimming_in(module, reach, path);
    if (trimming < reach)
        from.refuse("is a model of bpnet-lite that trims " + counted(trimming, "position") +
                    ", less than the " + std::to_string(reach) +
                    " that its layers reach: it predicts from padding, which is not supported");
    shape.groups = {columns};
    shape.input = usual_window;
    shape.output = usual_window - 2 * trimming;
    shape.counts = shape.output + 2 * count_margin;
    shape.count_offset = ported ? static_cast<double>(columns) : 1;  // as of the networks it was ported from
    return read;
}

/// `prefix` leads to a ChromBPNet with its bias model, or to one network.
ProfileModel read_lite(const TorchFile& file, const std::string& prefix, bool joined, const fs::path& path) {
    ProfileModel model{.family = "bpnet-lite", .parts = {}, .sha256 = ""};
    model.source["class"] = module_at(file, prefix).value("class", Json());
    model.source["assumed"] = assumed_window;
    if (!joined) {
        LitePart read = read_lite_part(file, prefix, "", path);
        if (read.controls > 0) model.source["control_tracks"] = read.controls;
        model.parts.push_back(std::move(read.part));
    } else {
        model.parts.push_back(read_lite_part(file, prefix + "accessibility.", "nobias", path).part);
        model.parts.push_back(read_lite_part(file, prefix + "bias.", "bias", path).part);
        ProfileShape &first = model.parts[0].shape, &second = model.parts[1].shape;
        if (second.output < first.output || first.groups != second.groups)
            throw InputError("joins two networks that do not fit together", path);
        second.output = first.output;  // the bias's profile is cropped
    }
    for (const ProfilePart& part : model.parts)
        part.shape.validate();
    return model;
}

/// The prefix of names, from the first tensor whose name has this ending.
std::optional<std::string> prefix_of(const TorchFile& file, std::string_view ending) {
    for (const auto& tensor : file.tensors()) {
        const std::string& name = tensor.first;
        if (name.ends_with(ending) &&
            (name.size() == ending.size() || name[name.size() - ending.size() - 1] == '.'))
            return name.substr(0, name.size() - ending.size());
    }
    return std::nullopt;
}

ProfileModel read_network(const TorchFile& file, const fs::path& path) {
    if (const auto prefix = prefix_of(file, "blocks.0.linear1.weight")) {
        const Json config =
            file.values().is_object() ? file.values().value("config", Json::object()) : Json::object();
        return read_cherimoya(file, *prefix, config, path);
    }
    if (const auto prefix = prefix_of(file, "accessibility.iconv.weight"))
        if (is_module(module_at(file, *prefix))) return read_lite(file, *prefix, true, path);
    if (const auto prefix = prefix_of(file, "iconv.weight")) {
        if (is_module(module_at(file, *prefix))) return read_lite(file, *prefix, false, path);
        throw InputError(
            "holds weights alone (a state_dict), without what their network is; save the whole model: "
            "torch.save(model, ...)",
            path);
    }
    std::vector<std::string> names;
    for (const auto& tensor : file.tensors())
        names.push_back(tensor.first);
    throw InputError("is a file of PyTorch, but of none of Cherimoya and bpnet-lite (it holds " +
                         (names.empty() ? "no tensors" : listed(names)) + ")",
                     path);
}

}  // namespace

ProfileModel read_torch_model(const fs::path& path) {
    const TorchFile file(path);
    ProfileModel model;
    try {
        model = read_network(file, path);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), path);
    } catch (const Json::exception& error) {
        throw InputError("says of its network what is not understood: " + std::string(error.what()), path);
    }
    model.sha256 = sha256_of_file(path);
    return model;
}

}  // namespace bigbird::networks
