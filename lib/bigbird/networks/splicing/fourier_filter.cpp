// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/fourier_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace bigbird::networks {

namespace {

constexpr std::int64_t weights_of_tap = splice_channels * splice_channels;

/// The frequency at an index of a transform's result.
std::int64_t frequency_at(std::int64_t index, std::int64_t points) {
    if (points == 1) return 0;
    const std::int64_t parts = points == 2 ? 2 : 4, part = points / parts;
    return index / part + parts * frequency_at(index % part, part);
}

std::array<double, 2> root(std::int64_t index, std::int64_t points) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(index % points) / static_cast<double>(points);
    return {std::cos(angle), std::sin(angle)};
}

/// Sums over taps of weights times roots of 1.
struct Sums {
    std::array<double, weights_of_tap> re{}, im{};

    void add(const std::array<double, 2>& factor, const float* weights) {
        for (std::size_t i = 0; i < re.size(); ++i) {
            re[i] += factor[0] * weights[i];
            im[i] += factor[1] * weights[i];
        }
    }
};

std::vector<float> twiddles_of(std::int64_t points) {
    std::vector<float> twiddles;
    for (std::int64_t length = points; length >= 4; length /= 4)
        for (std::int64_t j = 0; j < length / 4; ++j)
            for (std::int64_t power = 1; power < 4; ++power) {
                const auto [re, im] = root(power * j, length);
                twiddles.push_back(static_cast<float>(re));
                twiddles.push_back(static_cast<float>(-im));
            }
    return twiddles;
}

}  // namespace

FourierFilter::FourierFilter(std::span<const float> weights, std::int64_t taps, std::int64_t dilation)
    : taps_(taps),
      dilation_(dilation),
      points_(std::min(splice_most_points,
                       static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(4 * taps))))),
      weights_(points_ * 2 * splice_channels),
      twiddles_(twiddles_of(points_)) {
    std::vector<std::int64_t> index_of(static_cast<std::size_t>(points_));
    for (std::int64_t i = 0; i < points_; ++i)
        index_of[static_cast<std::size_t>(frequency_at(i, points_))] = i;
    const auto set = [&](std::int64_t frequency, const Sums& even, const Sums& odd, double sign,
                         double turn) {
        const std::int64_t index = index_of[static_cast<std::size_t>(frequency % points_)];
        const double scale = 1 / static_cast<double>(points_);
        for (std::size_t i = 0; i < even.re.size(); ++i) {
            const auto row = static_cast<std::int64_t>(i / splice_channels);
            float* const to = weights_.row(2 * (index * splice_channels + row)) + i % splice_channels;
            to[0] = static_cast<float>((even.re[i] + sign * odd.re[i]) * scale);
            to[splice_channels] = static_cast<float>((even.im[i] + sign * odd.im[i]) * scale * turn);
        }
    };
    // A frequency, the opposite one, and those half a turn from both have the same sums of even and odd taps.
    for (std::int64_t f = 0; f <= points_ / 4; ++f) {
        Sums even, odd;
        for (std::int64_t t = 0; t < taps; ++t)
            (t % 2 == 0 ? even : odd).add(root(f * t, points_), weights.data() + t * weights_of_tap);
        set(f, even, odd, 1, 1);
        set(points_ - f, even, odd, 1, -1);
        set(points_ / 2 + f, even, odd, -1, 1);
        set(points_ / 2 - f, even, odd, -1, -1);
    }
}

std::int64_t FourierFilter::rows_together() const {
    const std::int64_t sets = (4 * splice_spectra + dilation_ - 1) / dilation_;
    return sets * dilation_ * (points_ - taps_ + 1);
}

bool FourierFilter::pays(std::int64_t rows) const {
    constexpr std::int64_t cost_of_point = 6;  // of a pair of blocks, in products of a row by a tap's weights
    const std::int64_t of_set = dilation_ * (points_ - taps_ + 1), rest = rows % of_set;
    const std::int64_t blocks = rows / of_set * dilation_ + std::min(rest, dilation_);
    return (blocks + 1) / 2 * points_ * cost_of_point < rows * taps_;
}

}  // namespace bigbird::networks
