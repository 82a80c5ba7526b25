// SPDX-License-Identifier: Apache-2.0
// What a network gives for a window, in float64 and by loops, from the weights of a ProfilePart.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace bigbird::testing {

struct SlowHeads {
    std::vector<double> logits, log_counts;  ///< (output, columns), (groups)
};

class SlowForward {
public:
    explicit SlowForward(const networks::ProfilePart& part) : part_(part), shape_(part.shape) {}

    SlowHeads operator()(const std::string& window) const {
        Rows x = convolve(letters(window), "stem", 1);
        if (shape_.trunk == networks::Trunk::relu_after) apply(x, relu);
        if (shape_.pads()) apply(x, gelu);
        for (std::int64_t i = 0; i < shape_.layers; ++i)
            x = shape_.pads() ? block(x, i) : layer(x, i);
        if (shape_.trunk == networks::Trunk::relu_before) apply(x, relu);
        SlowHeads heads;
        for (const Row& row : middle(convolve(x, "profile", 1), shape_.output))
            heads.logits.insert(heads.logits.end(), row.begin(), row.end());
        heads.log_counts = counts(middle(x, shape_.counts));
        return heads;
    }

private:
    using Row = std::vector<double>;
    using Rows = std::vector<Row>;

    static double relu(double value) { return std::max(0.0, value); }
    static double gelu(double value) {
        const double inner = std::sqrt(2 / std::numbers::pi) * (value + 0.044715 * value * value * value);
        return value / 2 * (1 + std::tanh(inner));
    }
    static void apply(Rows& rows, double (*function)(double)) {
        for (Row& row : rows)
            std::ranges::transform(row, row.begin(), function);
    }
    static Rows letters(const std::string& window) {
        Rows rows;
        for (const char letter : window) {
            rows.emplace_back();
            for (const char base : {'A', 'C', 'G', 'T'})
                rows.back().push_back(letter == base ? 1 : 0);
        }
        return rows;
    }
    static Rows middle(const Rows& rows, std::int64_t size) {
        const auto cut = (std::ssize(rows) - size) / 2;
        return {rows.begin() + cut, rows.begin() + cut + size};
    }
    const networks::StoredTensor& weight(const std::string& name) const { return part_.weights.at(name); }

    Rows convolve(const Rows& x, const std::string& name, std::int64_t dilation) const {
        const auto& kernel = weight(name + ".weight");
        const std::int64_t outs = kernel.shape[0], ins = kernel.shape[1], width = kernel.shape[2],
                           reach = dilation * (width - 1), padding = shape_.pads() ? reach / 2 : 0;
        Rows rows(static_cast<std::size_t>(std::ssize(x) - reach + 2 * padding));
        for (std::int64_t at = 0; at < std::ssize(rows); ++at) {
            for (std::int64_t out = 0; out < outs; ++out) {
                double sum = double{weight(name + ".bias").values[static_cast<std::size_t>(out)]};
                for (std::int64_t tap = 0; tap < width; ++tap) {
                    const std::int64_t from = at - padding + tap * dilation;
                    if (from < 0 || from >= std::ssize(x)) continue;
                    for (std::int64_t in = 0; in < ins; ++in)
                        sum +=
                            x[static_cast<std::size_t>(from)][static_cast<std::size_t>(in)] *
                            double{kernel.values[static_cast<std::size_t>((out * ins + in) * width + tap)]};
                }
                rows[static_cast<std::size_t>(at)].push_back(sum);
            }
        }
        return rows;
    }

    Rows layer(const Rows& x, std::int64_t index) const {
        const bool after = shape_.trunk == networks::Trunk::relu_after;
        Rows active = x;
        if (!after) apply(active, relu);
        Rows moved = convolve(active, "layers." + std::to_string(index), shape_.dilation(index));
        if (after) apply(moved, relu);
        const Rows kept = middle(x, std::ssize(moved));
        for (std::size_t i = 0; i < moved.size(); ++i)
            std::ranges::transform(moved[i], kept[i], moved[i].begin(), std::plus<>());
        return moved;
    }

    Row product(const std::string& name, const Row& row) const {
        const auto& matrix = weight(name);
        Row result;
        for (std::int64_t out = 0; out < matrix.shape[0]; ++out) {
            double sum = 0;
            for (std::size_t in = 0; in < row.size(); ++in)
                sum += row[in] * double{matrix.values[static_cast<std::size_t>(out) * row.size() + in]};
            result.push_back(sum);
        }
        return result;
    }

    Rows block(const Rows& x, std::int64_t index) const {
        const std::string name = "layers." + std::to_string(index);
        const auto& taps = weight(name + ".taps");
        const std::size_t filters = x.front().size();
        Rows moved(x.size(), Row(filters, 0.0));
        double sum = 0, squares = 0;
        for (std::int64_t at = 0; at < std::ssize(x); ++at) {
            for (std::size_t i = 0; i < filters; ++i) {
                double& value = moved[static_cast<std::size_t>(at)][i];
                for (std::int64_t tap = 0; tap < 3; ++tap) {
                    const std::int64_t from = at + (tap - 1) * shape_.dilation(index);
                    if (from >= 0 && from < std::ssize(x))
                        value += x[static_cast<std::size_t>(from)][i] *
                                 double{taps.values[static_cast<std::size_t>(tap) * filters + i]};
                }
                sum += value;
                squares += value * value;
            }
        }
        const double count = static_cast<double>(x.size() * filters), mean = sum / count,
                     scale = 1 / std::sqrt(squares / count - mean * mean + 1e-3);
        Rows result = x;
        for (std::size_t at = 0; at < x.size(); ++at) {
            for (double& value : moved[at])
                value = (value - mean) * scale;
            Row inner = product(name + ".linear1.weight", moved[at]);
            std::ranges::transform(inner, inner.begin(), gelu);
            const Row added = product(name + ".linear2.weight", inner);
            for (std::size_t i = 0; i < filters; ++i)
                result[at][i] += shape_.residual_scale * added[i];
        }
        return result;
    }

    Row counts(const Rows& x) const {
        Row mean(x.front().size(), 0.0);
        for (const Row& row : x)
            for (std::size_t i = 0; i < mean.size(); ++i)
                mean[i] += row[i] / static_cast<double>(x.size());
        Row result = product("counts.weight", mean);
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] += double{weight("counts.bias").values[i]};
        return result;
    }

    const networks::ProfilePart& part_;
    const networks::ProfileShape& shape_;
};

}  // namespace bigbird::testing
