// SPDX-License-Identifier: Apache-2.0
// A published network of the BPNet family, as read from its file, in one form for all: ChromBPNet and its
// bias model (Pampari et al. 2024), BPNet (Avsec et al. 2021; kundajelab/bpnet), BPNet of bpnet-lite,
// Cherimoya. No LibTorch.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::networks {

/// How a layer changes the trunk x, which begins as the stem's convolution of the letters.
///   relu_after   (ChromBPNet, bpnet-lite) x = relu(stem); x = crop(x) + relu(convolution(x))
///   relu_before  (kundajelab/bpnet) x = crop(x) + convolution(relu(x)); at the end x = relu(x)
///   cherimoya    x = gelu(stem), zero-padded throughout;
///                x = x + residual_scale * linear2(gelu(linear1(norm(depthwise convolution(x)))))
/// The first two have no padding. Layer i = 0, 1, … has a dilation of 2^(i + 1), in Cherimoya 2^i.
enum class Trunk : std::uint8_t { relu_after, relu_before, cherimoya };
inline constexpr Choices<Trunk, 3> trunk_words{{{Trunk::relu_after, "relu_after"},
                                                {Trunk::relu_before, "relu_before"},
                                                {Trunk::cherimoya, "cherimoya"}}};

/// A network that reads `input` bases and gives the logits of a profile over the `output` bases in their
/// middle, and log counts. All ranges have one middle.
struct ProfileShape {
    Trunk trunk = Trunk::relu_after;
    std::int64_t filters = 0, layers = 0;
    std::int64_t stem = 21,
                 head = 75;  ///< bases under a filter of the stem, positions under one of the profile
    std::int64_t input = 2114, output = 1000;
    std::int64_t counts = 0;  ///< positions of the trunk, around the middle, whose mean gives the log counts
    /// Columns (strands) of the profile in each group. A group has one log count, and one softmax over all
    /// its columns and positions.
    std::vector<std::int64_t> groups{1};
    double count_offset = 1;  ///< reads = exp(log count) - count_offset
    double residual_scale = 0.15;
    std::int64_t expansion = 2;  ///< Cherimoya's inner features are this times filters

    std::int64_t columns() const;
    std::int64_t dilation(std::int64_t layer) const { return std::int64_t{1} << (layer + (pads() ? 0 : 1)); }
    bool pads() const { return trunk == Trunk::cherimoya; }
    /// Positions of the trunk after the stem (0 layers) or some layers; `input` if it is padded.
    std::int64_t trunk_positions(std::int64_t after_layers) const;
    /// Throws ConfigError: a number out of bounds (filters up to 4,096, layers up to 16, input up to 2^20),
    /// or ranges that do not fit into each other.
    void validate() const;
    bool operator==(const ProfileShape&) const = default;
};
Json to_json(const ProfileShape& shape);
/// Validated. Throws InputError naming `where`.
ProfileShape shape_from_json(const Json& json, const std::filesystem::path& where);

struct StoredTensor {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};
/// Names and shapes, as in PyTorch: stem.weight (filters, 4, stem), stem.bias; layers.I.weight (filters,
/// filters, 3), layers.I.bias, or in Cherimoya layers.I.taps (3, filters: left, middle, right),
/// layers.I.linear1.weight (expanded, filters), layers.I.linear2.weight (filters, expanded); profile.weight
/// (columns, filters, head), profile.bias; counts.weight (groups, filters), counts.bias. Biases that a file
/// lacks are 0. Control tracks are zero: what they add is in the biases.
using Weights = std::map<std::string, StoredTensor>;

/// One network of a file.
struct ProfilePart {
    std::string name;  ///< "nobias" or "bias" in ChromBPNet, "" in others
    ProfileShape shape;
    Weights weights{};
};

/// What --component chooses of a ChromBPNet file.
enum class Component : std::uint8_t { nobias, bias, joined };
inline constexpr Choices<Component, 3> component_words{
    {{Component::nobias, "nobias"}, {Component::bias, "bias"}, {Component::joined, "joined"}}};

/// The family of models that train made.
inline constexpr const char* trained_family = "bigbird-dna";

struct ProfileModel {
    std::string family;              ///< "ChromBPNet", "BPNet", "bpnet-lite", "Cherimoya", trained_family
    std::vector<ProfilePart> parts;  ///< one; or nobias and bias, whose predictions are joined: logits are
                                     ///< added, and so are exp(log counts)
    std::string sha256;              ///< of the file
    Json source = Json::object();    ///< what else the file says: names, controls, for people
    /// Of a model trained here, for config.json: the genome's contigs, and options.
    Json contigs = Json::array(), training = Json::object();

    /// "joined", "nobias", "bias" or "".
    std::string component() const { return parts.size() > 1 ? "joined" : parts.front().name; }
    /// Whether the counts hold the enzyme's bias: "no", "yes", "only" (a bias model) or "unknown".
    std::string bias() const;
};

/// Keeps the parts of a component; unset: nobias, if there is one. Throws ConfigError naming `path` if the
/// file lacks it.
ProfileModel chosen(ProfileModel model, std::optional<Component> component,
                    const std::filesystem::path& path);

/// Whether a path is a file, not a folder, so that read_profile_model() is to read it.
bool is_model_file(const std::filesystem::path& path);
/// Reads a Keras HDF5 file or a file of torch.save(); executes nothing of either. Throws InputError that says
/// what the file is, if not a model of this family, and what to take instead.
ProfileModel read_profile_model(const std::filesystem::path& path);

}  // namespace bigbird::networks
