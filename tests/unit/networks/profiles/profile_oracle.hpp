// SPDX-License-Identifier: Apache-2.0
// Networks with random weights, and their heads computed by plain loops in float64, from the forms in
// networks/files/profile_model.hpp.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace profile_oracle {

using bigbird::networks::ProfileModel;
using bigbird::networks::ProfilePart;
using bigbird::networks::ProfileShape;
using bigbird::networks::StoredTensor;
using bigbird::networks::Trunk;
using bigbird::networks::Weights;

/// Without padding: the ranges that fit, if `output` does.
inline ProfileShape shape_of(Trunk trunk, std::int64_t filters, std::int64_t layers, std::int64_t output,
                             std::vector<std::int64_t> groups = {1}) {
    ProfileShape shape;
    shape.trunk = trunk;
    shape.filters = filters;
    shape.layers = layers;
    shape.head = 15;
    shape.output = output;
    shape.groups = std::move(groups);
    shape.input = output + (trunk == Trunk::cherimoya ? 60 : shape.head + shape.stem - 2);
    if (trunk != Trunk::cherimoya)
        for (std::int64_t layer = 0; layer < layers; ++layer)
            shape.input += 2 * shape.dilation(layer);
    shape.counts = trunk == Trunk::cherimoya ? output : shape.trunk_positions(layers);
    return shape;
}

inline ProfilePart random_part(const std::string& name, const ProfileShape& shape, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    ProfilePart part{.name = name, .shape = shape};
    const auto put = [&](const std::string& key, std::vector<std::int64_t> sizes, double scale) {
        std::int64_t size = 1;
        for (const std::int64_t s : sizes)
            size *= s;
        StoredTensor tensor{.shape = std::move(sizes), .values = {}};
        for (std::int64_t i = 0; i < size; ++i)
            tensor.values.push_back(static_cast<float>(scale) * normal(engine));
        part.weights[key] = std::move(tensor);
    };
    const std::int64_t f = shape.filters, inner = f * shape.expansion;
    const auto root = [](std::int64_t fan) { return 1 / std::sqrt(static_cast<double>(fan)); };
    put("stem.weight", {f, 4, shape.stem}, root(shape.stem));
    put("stem.bias", {f}, 0.1);
    for (std::int64_t i = 0; i < shape.layers; ++i) {
        const std::string layer = "layers." + std::to_string(i) + ".";
        if (shape.pads()) {
            put(layer + "taps", {3, f}, 0.6);
            put(layer + "linear1.weight", {inner, f}, root(f));
            put(layer + "linear2.weight", {f, inner}, root(inner));
        } else {
            put(layer + "weight", {f, f, 3}, root(3 * f));
            put(layer + "bias", {f}, 0.1);
        }
    }
    put("profile.weight", {shape.columns(), f, shape.head}, root(shape.head * f));
    put("profile.bias", {shape.columns()}, 0.1);
    put("counts.weight", {std::ssize(shape.groups), f}, 0.25);
    put("counts.bias", {std::ssize(shape.groups)}, 1);
    return part;
}

/// Codes with some N.
inline std::vector<std::uint8_t> random_codes(std::int64_t size, unsigned seed) {
    std::mt19937 engine(seed);
    std::vector<std::uint8_t> codes;
    for (std::int64_t i = 0; i < size; ++i)
        codes.push_back(engine() % 40 == 0 ? 4 : static_cast<std::uint8_t>(engine() % 4));
    return codes;
}

struct Heads {
    std::vector<double> counts, profile;  ///< (groups), (output, columns)
};

/// (positions, channels)
using Rows = std::vector<std::vector<double>>;

inline double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/// A convolution with weight (out, in, width); `padding` zeros on each side.
inline Rows convolved(const Rows& x, const StoredTensor& weight, const std::vector<float>& bias,
                      std::int64_t dilation, std::int64_t padding) {
    const std::int64_t out = weight.shape[0], in = weight.shape[1], width = weight.shape[2],
                       size = std::ssize(x) + 2 * padding - (width - 1) * dilation;
    Rows y(static_cast<std::size_t>(size), std::vector<double>(static_cast<std::size_t>(out)));
    for (std::int64_t p = 0; p < size; ++p) {
        for (std::int64_t o = 0; o < out; ++o) {
            double sum = static_cast<double>(bias[static_cast<std::size_t>(o)]);
            for (std::int64_t t = 0; t < width; ++t) {
                const std::int64_t from = p + t * dilation - padding;
                if (from < 0 || from >= std::ssize(x)) continue;
                for (std::int64_t i = 0; i < in; ++i)
                    sum += static_cast<double>(
                               weight.values[static_cast<std::size_t>((o * in + i) * width + t)]) *
                           x[static_cast<std::size_t>(from)][static_cast<std::size_t>(i)];
            }
            y[static_cast<std::size_t>(p)][static_cast<std::size_t>(o)] = sum;
        }
    }
    return y;
}

inline void each(Rows& x, const auto& change) {
    for (std::vector<double>& row : x)
        for (double& value : row)
            value = change(value);
}
inline double relu(double x) {
    return std::max(x, 0.0);
}
inline Rows middle(const Rows& x, std::int64_t count) {
    const auto first = (std::ssize(x) - count) / 2;
    return {x.begin() + first, x.begin() + first + count};
}
inline void add(Rows& x, const Rows& y, double scale) {
    for (std::size_t p = 0; p < x.size(); ++p)
        for (std::size_t c = 0; c < x[p].size(); ++c)
            x[p][c] += scale * y[p][c];
}

inline Rows cherimoya_layer(const ProfilePart& part, std::int64_t i, Rows x) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    const auto& taps = part.weights.at(layer + "taps").values;
    const std::int64_t f = part.shape.filters, inner = f * part.shape.expansion,
                       dilation = part.shape.dilation(i);
    Rows y = x;
    double mean = 0, variance = 0;
    const auto size = static_cast<double>(std::ssize(x) * f);
    for (std::int64_t p = 0; p < std::ssize(x); ++p) {
        for (std::int64_t c = 0; c < f; ++c) {
            double& sum = y[static_cast<std::size_t>(p)][static_cast<std::size_t>(c)];
            sum = 0;
            for (std::int64_t t = 0; t < 3; ++t) {
                const std::int64_t from = p + (t - 1) * dilation;
                if (from >= 0 && from < std::ssize(x))
                    sum += static_cast<double>(taps[static_cast<std::size_t>(t * f + c)]) *
                           x[static_cast<std::size_t>(from)][static_cast<std::size_t>(c)];
            }
            mean += sum / size;
        }
    }
    each(y, [&](double v) { return v - mean; });
    for (const auto& row : y)
        for (const double v : row)
            variance += v * v / size;
    each(y, [&](double v) { return v / std::sqrt(variance + 1e-3); });
    StoredTensor first = part.weights.at(layer + "linear1.weight"),
                 second = part.weights.at(layer + "linear2.weight");
    first.shape.push_back(1);
    second.shape.push_back(1);
    Rows hidden = convolved(y, first, std::vector<float>(static_cast<std::size_t>(inner)), 1, 0);
    each(hidden, gelu);
    add(x, convolved(hidden, second, std::vector<float>(static_cast<std::size_t>(f)), 1, 0),
        part.shape.residual_scale);
    return x;
}

inline Heads heads_of(const ProfilePart& part, const std::vector<std::uint8_t>& codes) {
    const ProfileShape& shape = part.shape;
    const Weights& w = part.weights;
    const bool after = shape.trunk == Trunk::relu_after, pads = shape.pads();
    Rows x;
    for (const std::uint8_t code : codes) {
        x.emplace_back(4);
        if (code < 4) x.back()[code] = 1;
    }
    x = convolved(x, w.at("stem.weight"), w.at("stem.bias").values, 1, pads ? shape.stem / 2 : 0);
    if (pads) each(x, gelu);
    if (after) each(x, relu);
    for (std::int64_t i = 0; i < shape.layers; ++i) {
        if (pads) {
            x = cherimoya_layer(part, i, x);
            continue;
        }
        const std::string layer = "layers." + std::to_string(i) + ".";
        Rows y = x;
        if (!after) each(y, relu);
        y = convolved(y, w.at(layer + "weight"), w.at(layer + "bias").values, shape.dilation(i), 0);
        if (after) each(y, relu);
        x = middle(x, std::ssize(y));
        add(x, y, 1);
    }
    if (shape.trunk == Trunk::relu_before) each(x, relu);
    const Rows logits = middle(
        convolved(x, w.at("profile.weight"), w.at("profile.bias").values, 1, pads ? shape.head / 2 : 0),
        shape.output);
    Heads heads;
    for (const auto& row : logits)
        heads.profile.insert(heads.profile.end(), row.begin(), row.end());
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
        double sum = 0;
        for (const auto& row : middle(x, shape.counts))
            for (std::size_t c = 0; c < row.size(); ++c)
                sum += row[c] * static_cast<double>(w.at("counts.weight").values[g * row.size() + c]);
        heads.counts.push_back(sum / static_cast<double>(shape.counts) +
                               static_cast<double>(w.at("counts.bias").values[g]));
    }
    return heads;
}

inline Heads heads_of(const ProfileModel& model, const std::vector<std::uint8_t>& codes) {
    Heads heads = heads_of(model.parts.front(), codes);
    for (std::size_t i = 1; i < model.parts.size(); ++i) {
        const Heads other = heads_of(model.parts[i], codes);
        for (std::size_t p = 0; p < heads.profile.size(); ++p)
            heads.profile[p] += other.profile[p];
        for (std::size_t g = 0; g < heads.counts.size(); ++g)
            heads.counts[g] = std::log(std::exp(heads.counts[g]) + std::exp(other.counts[g]));
    }
    return heads;
}

}  // namespace profile_oracle
