// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/effects.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace bigbird::splicing {

namespace {

constexpr std::int64_t splice_channels = 3;
enum Channel : std::int64_t { none, acceptor, donor };

/// A channel of (positions, channels).
std::vector<double> channel_of(std::span<const float> values, std::int64_t channel, std::int64_t channels) {
    std::vector<double> column;
    column.reserve(values.size() / static_cast<std::size_t>(channels));
    for (auto i = static_cast<std::size_t>(channel); i < values.size();
         i += static_cast<std::size_t>(channels))
        column.push_back(values[i]);
    return column;
}

/// Replaces the positions [at, at + count) by their maximum.
void join_by_maximum(std::vector<double>& column, std::int64_t at, std::int64_t count) {
    const auto begin = column.begin() + at;
    *begin = *std::max_element(begin, begin + count);
    column.erase(begin + 1, begin + count);
}

/// The alternative channel on the reference's positions, as the program puts it there.
std::vector<double> on_reference(const AlleleWindow& window, std::int64_t channel) {
    std::vector<double> alt = channel_of(window.alt, channel, splice_channels);
    const std::int64_t deleted = window.ref_length - window.alt_length;
    if (deleted > 0)
        alt.insert(alt.begin() + std::min(window.distance + 1, std::ssize(alt)),
                   static_cast<std::size_t>(deleted), 0.0);
    if (deleted < 0) join_by_maximum(alt, window.distance, window.alt_length);
    return alt;
}

/// The difference as the program computes it: in float32, but after a deletion, whose zeros are float64.
std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b, bool deletion) {
    BIGBIRD_EXPECTS(a.size() == b.size(), "both alleles have one position for each of the reference");
    std::vector<double> result(a.size());
    std::ranges::transform(a, b, result.begin(), [&](double x, double y) {
        return deletion ? x - y : static_cast<double>(static_cast<float>(x) - static_cast<float>(y));
    });
    return result;
}

/// Sets score `kind` of an effect to the first largest of `values`.
void take_largest(SpliceEffect& effect, std::size_t kind, const std::vector<double>& values,
                  std::int64_t distance) {
    const auto largest = std::ranges::max_element(values);
    effect.scores[kind] = *largest;
    effect.positions[kind] = largest - values.begin() - distance;
}

bool contains(const std::vector<std::int64_t>& sites, std::int64_t position) {
    return std::ranges::binary_search(sites, position);
}

/// The alternative channel on the reference's positions: see exact_effect().
std::vector<double> exactly_on_reference(const AlleleWindow& window, std::int64_t channel,
                                         std::int64_t channels) {
    std::vector<double> alt = channel_of(window.alt, channel, channels);
    if (window.ref_length == window.alt_length) return alt;
    join_by_maximum(alt, window.distance, window.alt_length);
    alt.insert(alt.begin() + window.distance + 1, static_cast<std::size_t>(window.ref_length - 1), 0.0);
    return alt;
}

}  // namespace

SpliceEffect program_effect(const AlleleWindow& window, std::optional<std::int64_t> nearest) {
    SpliceEffect effect;
    const bool deletion = window.ref_length > window.alt_length;
    for (const Channel channel : {acceptor, donor}) {
        const std::vector<double> ref = channel_of(window.ref, channel, splice_channels),
                                  alt = on_reference(window, channel);
        const std::size_t gain = channel == acceptor ? 0 : 2, loss = gain + 1;
        take_largest(effect, gain, difference(alt, ref, deletion), window.distance);
        take_largest(effect, loss, difference(ref, alt, deletion), window.distance);
        if (!nearest) continue;
        effect.scores[gain] *= effect.positions[gain] == *nearest ? 0 : 1;
        effect.scores[loss] *= effect.positions[loss] != *nearest ? 0 : 1;
    }
    return effect;
}

SpliceEffect exact_effect(const AlleleWindow& window, const KnownSites* mask) {
    SpliceEffect effect;
    for (const Channel channel : {acceptor, donor}) {
        const std::vector<double> ref = channel_of(window.ref, channel, splice_channels),
                                  alt = exactly_on_reference(window, channel, splice_channels);
        std::vector<double> gains = difference(alt, ref, false), losses = difference(ref, alt, false);
        for (std::size_t i = 0; mask != nullptr && i < gains.size(); ++i) {
            const bool known = contains(channel == acceptor ? mask->acceptors : mask->donors,
                                        static_cast<std::int64_t>(i) - window.distance);
            (known ? gains[i] : losses[i]) = 0;
        }
        const std::size_t gain = channel == acceptor ? 0 : 2;
        take_largest(effect, gain, gains, window.distance);
        take_largest(effect, gain + 1, losses, window.distance);
    }
    for (double& score : effect.scores)
        score = score > 0 ? score : 0;  // not -0
    return effect;
}

std::string text_of(const SpliceEffect& effect) {
    std::string text;
    for (const double score : effect.scores) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.2f|", score);
        text += digits;
    }
    for (const std::int64_t position : effect.positions)
        text += std::to_string(position) + "|";
    text.pop_back();
    return text;
}

PangolinEffect pangolin_effect(const AlleleWindow& window, std::int64_t channels,
                               const std::vector<std::int64_t>* boundaries) {
    std::vector<double> gains, losses;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::vector<double> ref = channel_of(window.ref, channel, channels);
        std::vector<double> alt = channel_of(window.alt, channel, channels);
        const std::int64_t grown = window.alt_length - window.ref_length;
        if (grown < 0) alt.insert(alt.begin() + window.distance + 1, static_cast<std::size_t>(-grown), 0.0);
        if (grown > 0) join_by_maximum(alt, window.distance, grown + 1);
        const std::vector<double> change = difference(alt, ref, grown < 0);
        if (gains.empty()) gains = losses = change;
        for (std::size_t i = 0; i < change.size(); ++i) {
            gains[i] = std::max(gains[i], change[i]);
            losses[i] = std::min(losses[i], change[i]);
        }
    }
    for (std::size_t i = 0; boundaries != nullptr && i < gains.size(); ++i)
        if (contains(*boundaries, static_cast<std::int64_t>(i) - window.distance))
            gains[i] = std::min(gains[i], 0.0);
        else
            losses[i] = std::max(losses[i], 0.0);
    const auto gain = std::ranges::max_element(gains), loss = std::ranges::min_element(losses);
    return {*gain, *loss, gain - gains.begin() - window.distance, loss - losses.begin() - window.distance};
}

}  // namespace bigbird::splicing
