// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/curve.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"

#include <algorithm>
#include <cmath>
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

std::optional<std::string> unreliable(const Reliability& reliability) {
    constexpr double far = 0.1, errors = 3;
    const ReliabilityBin* worst = nullptr;
    const auto off = [](const ReliabilityBin& bin) { return std::abs(bin.mean_score - bin.positive_share); };
    for (const ReliabilityBin& bin : reliability.bins) {
        const double error = std::sqrt(bin.mean_score * (1 - bin.mean_score) / static_cast<double>(bin.rows));
        if (off(bin) > std::max(far, errors * error) && (worst == nullptr || off(bin) > off(*worst)))
            worst = &bin;
    }
    if (worst == nullptr) return std::nullopt;
    return fmt::format(
        "scores are no probabilities here, only good to rank by: of {} with a mean score of {:.2f}, {} "
        "positive",
        bigbird::counted(worst->rows, "row"), worst->mean_score,
        worst->positive_share == 0 ? "none is" : fmt::format("{:.1f} % are", 100 * worst->positive_share));
}

void ReliabilityCounter::add(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const double score = static_cast<double>(scores[i]), label = labels[i] != 0 ? 1 : 0;
        if (!(score >= 0 && score <= 1)) {
            are_probabilities_ = false;
            return;
        }
        std::size_t tenth = 0;
        while (tenth + 1 < tenths && score > static_cast<double>(tenth + 1) / 10)
            ++tenth;
        Sums& sums = sums_[tenth];
        ++sums.rows;
        sums.positives += labels[i] != 0 ? 1 : 0;
        sums.scores += score;
        squares_ += (score - label) * (score - label);
    }
}

std::optional<Reliability> ReliabilityCounter::reliability() const {
    Reliability result;
    double rows = 0;
    for (const Sums& sums : sums_) {
        if (sums.rows == 0) continue;
        const auto count = static_cast<double>(sums.rows);
        const ReliabilityBin bin{sums.rows, sums.scores / count, static_cast<double>(sums.positives) / count};
        result.calibration_error += count * std::abs(bin.mean_score - bin.positive_share);
        result.bins.push_back(bin);
        rows += count;
    }
    if (rows == 0 || !are_probabilities_) return std::nullopt;
    result.calibration_error /= rows;
    result.brier = squares_ / rows;
    return result;
}

}  // namespace bigbird::evaluation
