// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/metrics.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

namespace {

std::optional<double> ratio(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

}  // namespace

std::optional<double> roc_auc(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    return Ranking(scores, labels).areas().roc_auc;
}

std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    return Ranking(scores, labels).areas().average_precision;
}

void Confusion::count(bool positive, bool predicted, std::int64_t times) {
    std::int64_t& cell = positive ? (predicted ? true_positives : false_negatives)
                                  : (predicted ? false_positives : true_negatives);
    cell += times;
}

std::optional<double> Confusion::accuracy() const {
    const auto right = static_cast<double>(true_positives + true_negatives);
    return ratio(right, right + static_cast<double>(false_positives + false_negatives));
}

std::optional<double> Confusion::precision() const {
    return ratio(static_cast<double>(true_positives), static_cast<double>(true_positives + false_positives));
}

std::optional<double> Confusion::recall() const {
    return ratio(static_cast<double>(true_positives), static_cast<double>(true_positives + false_negatives));
}

std::optional<double> Confusion::f1() const {
    return ratio(2.0 * static_cast<double>(true_positives),
                 static_cast<double>(2 * true_positives + false_positives + false_negatives));
}

std::optional<double> Confusion::mcc() const {
    const auto tp = static_cast<double>(true_positives), fp = static_cast<double>(false_positives);
    const auto tn = static_cast<double>(true_negatives), fn = static_cast<double>(false_negatives);
    const double margins = std::sqrt(tp + fp) * std::sqrt(tp + fn) * std::sqrt(tn + fp) * std::sqrt(tn + fn);
    return margins > 0 ? std::optional((tp * tn - fp * fn) / margins) : std::nullopt;
}

Summary summarise(std::span<const std::optional<double>> values) {
    Summary summary;
    summary.total = static_cast<std::int64_t>(values.size());
    std::vector<double> defined;
    double sum = 0;
    for (const auto& value : values) {
        if (value) {
            defined.push_back(*value);
            sum += *value;
        }
    }
    summary.defined = static_cast<std::int64_t>(defined.size());
    if (!defined.empty()) {
        summary.mean = sum / static_cast<double>(defined.size());
        summary.median = quantile(defined, 0.5);
    }
    return summary;
}

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

Areas Ranking::areas(std::span<const std::uint32_t> weights) const {
    if (weights.empty()) return weighted([](std::uint32_t) { return std::uint64_t{1}; });
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
