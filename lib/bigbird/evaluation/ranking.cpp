// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/ranking.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

Ranking::Ranking(std::span<const float> scores, std::span<const std::uint8_t> labels,
                 std::span<const std::uint32_t> units)
    : units_(scores.size()), labels_(scores.size()) {
    BIGBIRD_EXPECTS(scores.size() == labels.size(), "one label for each score is needed");
    BIGBIRD_EXPECTS(units.empty() || units.size() == scores.size(), "one unit for each score is needed");
    BIGBIRD_EXPECTS(scores.size() < std::numeric_limits<std::uint32_t>::max(),
                    "too many rows for one ranking");
    std::vector<std::uint32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    bool any_positive = false, had_positive = false;  // in this run of ties, and in the one before
    const auto end_run = [&](std::size_t end) {
        if (!any_positive && !had_positive && !ties_.empty()) ties_.pop_back();  // negatives only: one run
        ties_.push_back(static_cast<std::uint32_t>(end));
        had_positive = std::exchange(any_positive, false);
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && scores[order[i]] != scores[order[i - 1]]) end_run(i);
        labels_[i] = labels[order[i]];
        units_[i] = units.empty() ? order[i] : units[order[i]];
        any_positive = any_positive || labels_[i] != 0;
    }
    end_run(order.size());
}

Areas Ranking::areas() const {
    return weighted([](std::uint32_t) { return std::uint64_t{1}; });
}

Areas Ranking::areas(std::span<const std::uint32_t> weights) const {
    return weighted([&](std::uint32_t unit) { return std::uint64_t{weights[unit]}; });
}

template <typename Weight>
Areas Ranking::weighted(const Weight& weight) const {
    std::uint64_t positives = 0, negatives = 0;  // above the run of ties, then with it
    double wrong_pairs = 0;                      // (positive, negative) pairs in the wrong order, ties half
    double precision_sum = 0;
    std::size_t i = 0;
    for (const std::uint32_t end : ties_) {
        std::uint64_t run_positives = 0, run = 0;
        for (; i < end; ++i) {
            const std::uint64_t w = weight(units_[i]);
            run += w;
            run_positives += labels_[i] != 0 ? w : 0;
        }
        const std::uint64_t run_negatives = run - run_positives;
        if (run_positives > 0) {  // the rare case: only here is there anything to divide
            const auto of_run = static_cast<double>(run_positives);
            wrong_pairs +=
                of_run * (static_cast<double>(negatives) + 0.5 * static_cast<double>(run_negatives));
            positives += run_positives;
            const auto above = static_cast<double>(positives + negatives + run_negatives);
            precision_sum += of_run * static_cast<double>(positives) / above;
        }
        negatives += run_negatives;
    }
    Areas areas;
    if (positives > 0) {
        areas.average_precision = precision_sum / static_cast<double>(positives);
        if (negatives > 0) {
            areas.roc_auc =
                1.0 - wrong_pairs / (static_cast<double>(positives) * static_cast<double>(negatives));
        }
    }
    return areas;
}

}  // namespace bigbird::evaluation
