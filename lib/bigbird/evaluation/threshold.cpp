// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/threshold.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace bigbird::evaluation {

ThresholdRule parse_threshold_rule(const std::string& text) {
    if (text == "auto") return {};
    if (text == "f1") return {ThresholdRule::Kind::best_f1, 0};
    if (text == "mcc") return {ThresholdRule::Kind::best_mcc, 0};
    if (const auto value = rows::parse_real(text)) return {ThresholdRule::Kind::given, *value};
    throw ConfigError("--threshold is a score, auto, f1 or mcc, not '" + text + "'");
}

std::optional<ChosenThreshold> best_threshold(std::span<const float> scores,
                                              std::span<const std::uint8_t> labels,
                                              ThresholdRule::Kind kind) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    Confusion counts;  // with the threshold above all scores
    for (const std::uint8_t label : labels)
        counts.count(label != 0, false);
    std::optional<ChosenThreshold> best;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const bool positive = labels[order[i]] != 0;
        counts.count(positive, false, -1);
        counts.count(positive, true);
        const float score = scores[order[i]];
        if (i + 1 < order.size() && scores[order[i + 1]] == score) continue;  // tied scores are one threshold
        const auto figure = kind == ThresholdRule::Kind::best_mcc ? counts.mcc() : counts.f1();
        if (figure && (!best || *figure > best->figure))
            best = ChosenThreshold{static_cast<double>(score), *figure};
    }
    return best;
}

}  // namespace bigbird::evaluation
