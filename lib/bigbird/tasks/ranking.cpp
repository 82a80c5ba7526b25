// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/ranking.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bigbird::tasks {

Ranking::Ranking(std::span<const float> scores, std::span<const std::uint8_t> labels)
    : order_(scores.size()), labels_(scores.size()) {
    BIGBIRD_EXPECTS(scores.size() == labels.size(), "one label for each score is needed");
    BIGBIRD_EXPECTS(scores.size() < std::numeric_limits<std::uint32_t>::max(),
                    "too many rows for one ranking");
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
        labels_[i] = labels[order_[i]];
        if (i > 0 && scores[order_[i]] != scores[order_[i - 1]]) {
            ties_.push_back(static_cast<std::uint32_t>(i));
        }
    }
    ties_.push_back(static_cast<std::uint32_t>(order_.size()));
}

Areas Ranking::areas() const {
    return weighted([](std::uint32_t) { return std::uint64_t{1}; });
}

Areas Ranking::areas(std::span<const std::uint32_t> weights) const {
    BIGBIRD_EXPECTS(weights.size() == order_.size(), "one weight for each row is needed");
    return weighted([&](std::uint32_t row) { return std::uint64_t{weights[row]}; });
}

template <typename Weight>
Areas Ranking::weighted(const Weight& weight) const {
    std::uint64_t positives = 0, negatives = 0;  // above and in the run of ties
    double pairs = 0;                            // (positive, negative) pairs in the right order, ties half
    double precision_sum = 0;
    std::size_t i = 0;
    for (const std::uint32_t end : ties_) {
        std::uint64_t run_positives = 0, run = 0;
        for (; i < end; ++i) {
            const std::uint64_t w = weight(order_[i]);
            run += w;
            run_positives += labels_[i] != 0 ? w : 0;
        }
        if (run == 0) {
            continue;
        }
        const auto run_negatives = static_cast<double>(run - run_positives);
        pairs += run_negatives * (static_cast<double>(positives) + 0.5 * static_cast<double>(run_positives));
        positives += run_positives;
        negatives += run - run_positives;
        precision_sum += static_cast<double>(run_positives) * static_cast<double>(positives) /
                         static_cast<double>(positives + negatives);
    }
    Areas areas;
    if (positives > 0) {
        areas.average_precision = precision_sum / static_cast<double>(positives);
        if (negatives > 0) {
            areas.roc_auc = pairs / (static_cast<double>(positives) * static_cast<double>(negatives));
        }
    }
    return areas;
}

}  // namespace bigbird::tasks
