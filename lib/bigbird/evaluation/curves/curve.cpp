// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/curve.hpp"

#include <algorithm>
#include <numeric>

namespace bigbird::evaluation {

std::vector<CurvePoint> curve_of(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                 std::size_t most) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    const auto positives = static_cast<double>(
        std::count_if(labels.begin(), labels.end(), [](std::uint8_t label) { return label != 0; }));
    const double negatives = static_cast<double>(labels.size()) - positives;
    std::vector<CurvePoint> points;
    if (positives == 0 || negatives == 0) return points;
    double right = 0, wrong = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        (labels[order[i]] != 0 ? right : wrong) += 1;
        if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]]) continue;
        points.push_back({static_cast<double>(scores[order[i]]), right / positives, wrong / negatives,
                          right / (right + wrong)});
    }
    if (points.size() <= most) return points;
    std::vector<CurvePoint> chosen;
    for (std::size_t i = 1; i <= most; ++i)
        chosen.push_back(points[i * points.size() / most - 1]);
    return chosen;
}

}  // namespace bigbird::evaluation
