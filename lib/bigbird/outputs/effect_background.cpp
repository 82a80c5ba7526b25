// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/effect_background.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bigbird::outputs {

namespace {

constexpr int hundredths = 100, per_decade = 10, decades = 3;

std::span<const float> of_label(const std::vector<float>& quantiles, std::size_t label, std::size_t levels) {
    return std::span(quantiles).subspan(label * levels, levels);
}

}  // namespace

std::vector<double> background_levels() {
    std::vector<double> levels{0, 1};
    for (int i = 1; i < hundredths; ++i)
        levels.push_back(i / static_cast<double>(hundredths));
    for (int i = 1; i <= per_decade * decades; ++i) {
        const double tail = std::pow(10, -2 - i / static_cast<double>(per_decade));
        levels.insert(levels.end(), {tail, 1 - tail});
    }
    std::ranges::sort(levels);
    return levels;
}

std::vector<float> quantiles_of(std::vector<float> effects, std::span<const double> levels) {
    std::erase_if(effects, [](float effect) { return std::isnan(effect); });
    std::vector<float> quantiles(levels.size(), std::numeric_limits<float>::quiet_NaN());
    if (effects.empty()) return quantiles;
    std::ranges::sort(effects);
    const auto last = static_cast<double>(effects.size() - 1);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double at = levels[i] * last, below = std::floor(at);
        const auto index = static_cast<std::size_t>(below);
        const double low = effects[index], high = effects[std::min(index + 1, effects.size() - 1)];
        quantiles[i] = static_cast<float>(low == high ? low : low + (at - below) * (high - low));
    }
    return quantiles;
}

double share_below(std::span<const float> quantiles, std::span<const double> levels, double value,
                   bool at_most) {
    const auto compared = static_cast<float>(value);
    const auto found = at_most ? std::ranges::upper_bound(quantiles, compared)
                               : std::ranges::lower_bound(quantiles, compared);
    const auto i = static_cast<std::size_t>(found - quantiles.begin());
    if (i == 0) return 0;
    if (i == quantiles.size()) return 1;
    const double low = quantiles[i - 1], high = quantiles[i];
    return levels[i - 1] + (compared - low) / (high - low) * (levels[i] - levels[i - 1]);
}

std::optional<std::size_t> EffectBackground::find(std::string_view label) const {
    const auto found = std::ranges::find(labels, label);
    if (found == labels.end()) return std::nullopt;
    return static_cast<std::size_t>(found - labels.begin());
}

double EffectBackground::quantile(std::size_t label, double effect) const {
    const auto quantiles = of_label(of_variants, label, levels.size());
    if (std::isnan(effect) || std::isnan(quantiles.front())) return std::nan("");
    return (share_below(quantiles, levels, effect, false) + share_below(quantiles, levels, effect, true)) / 2;
}

double EffectBackground::p(std::size_t label, double effect) const {
    const auto quantiles = of_label(of_shuffled, label, levels.size());
    if (std::isnan(effect) || std::isnan(quantiles.front())) return std::nan("");
    const double size = std::abs(effect), count = static_cast<double>(shuffled);
    const double share =
        1 - share_below(quantiles, levels, size, false) + share_below(quantiles, levels, -size, true);
    return (1 + count * std::min(share, 1.0)) / (1 + count);
}

}  // namespace bigbird::outputs
