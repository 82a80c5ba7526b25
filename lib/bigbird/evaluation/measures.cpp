// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/measures.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

namespace {

std::optional<double> ratio(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

}  // namespace

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
    return ratio(static_cast<double>(true_positives), predicted());
}

std::optional<double> Confusion::recall() const {
    return ratio(static_cast<double>(true_positives), positives());
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
                 std::span<const std::uint32_t> units, std::span<const std::int64_t> times)
    : units_(scores.size()), labels_(scores.size()), times_(times.size()) {
    BIGBIRD_EXPECTS(scores.size() == labels.size(), "one label for each score is needed");
    BIGBIRD_EXPECTS(units.empty() || units.size() == scores.size(), "one unit for each score is needed");
    BIGBIRD_EXPECTS(times.empty() || times.size() == scores.size(), "a count for each score is needed");
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
        if (!times.empty()) times_[i] = times[order[i]];
        any_positive = any_positive || labels_[i] != 0;
    }
    end_run(order.size());
}

Areas Ranking::areas(Weights weights) const {
    if (times_.empty() && weights.empty()) return weighted([](std::size_t) { return std::uint64_t{1}; });
    if (times_.empty()) return weighted([&](std::size_t i) { return std::uint64_t{weights[units_[i]]}; });
    return weighted([&](std::size_t i) {
        return static_cast<std::uint64_t>(times_[i]) * (weights.empty() ? 1 : weights[units_[i]]);
    });
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
            const std::uint64_t w = weight(i);
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
            const double pairs = static_cast<double>(positives) * static_cast<double>(negatives);
            // Rows that repeat have very many pairs: one rounding less.
            areas.roc_auc = times_.empty() ? 1.0 - wrong_pairs / pairs : (pairs - wrong_pairs) / pairs;
        }
    }
    return areas;
}

namespace {

/// The mean of one figure over the columns from `first` on.
std::optional<double> mean_of(const std::vector<FigureValues>& each, std::size_t figure,
                              std::size_t first = 0) {
    FigureValues values;
    for (std::size_t column = first; column < each.size(); ++column)
        values.push_back(each[column][figure]);
    return summarise(values).mean;
}

/// A label or class against the other rows.
struct OneAgainstOthers {
    Confusion counts;
    Areas areas;
};

/// `called`: 0 or 1, as `truth`.
std::function<OneAgainstOthers(Weights)> one_against_others(const MeasuredRows& rows, std::size_t column,
                                                            std::vector<std::uint8_t> truth,
                                                            std::vector<std::uint8_t> called) {
    const auto ranking = std::make_shared<const Ranking>(rows.scores[column], truth, rows.units, rows.times);
    return [rows, truth = std::move(truth), called = std::move(called), ranking](Weights weights) {
        OneAgainstOthers one{{}, ranking->areas(weights)};
        for (std::size_t i = 0; i < truth.size(); ++i)
            one.counts.count(
                truth[i] != 0, called[i] != 0,
                (weights.empty() ? 1 : weights[rows.units[i]]) * (rows.times.empty() ? 1 : rows.times[i]));
        return one;
    };
}

/// From what each class gave: rows, precision, recall, f1, auroc, auprc, called, right. MCC of several
/// classes is Gorodkin's (2004).
FigureValues class_figures(const std::vector<FigureValues>& each) {
    double rows = 0, both = 0, truth2 = 0, called2 = 0, right = 0;
    for (const FigureValues& of : each) {
        const double truth = *of[0], called = *of[6];
        rows += truth;
        both += truth * called;
        truth2 += truth * truth;
        called2 += called * called;
        right += *of[7];
    }
    const double margins = std::sqrt(rows * rows - truth2) * std::sqrt(rows * rows - called2);
    const std::size_t first = each.size() == 2 ? 1 : 0;
    return {ratio(right, rows), margins > 0 ? std::optional((right * rows - both) / margins) : std::nullopt,
            mean_of(each, 3), mean_of(each, 4, first), mean_of(each, 5, first)};
}

}  // namespace

std::vector<FigureValues> Measure::figures_of_each(Weights weights) const {
    std::vector<FigureValues> each;
    for (std::size_t i = 0; i < columns; ++i)
        each.push_back(column(i)(weights));
    return each;
}

std::vector<std::uint32_t> called_classes(const MeasuredRows& rows, std::optional<double> threshold) {
    std::vector<std::uint32_t> called(rows.scores.front().size());
    for (std::size_t i = 0; i < called.size(); ++i) {
        if (threshold) {
            called[i] = static_cast<double>(rows.scores[1][i]) >= *threshold ? 1 : 0;
            continue;
        }
        for (std::uint32_t k = 1; k < rows.scores.size(); ++k)
            if (rows.scores[k][i] > rows.scores[called[i]][i]) called[i] = k;
    }
    return called;
}

Measure measure_classes(const MeasuredRows& rows, std::span<const std::uint32_t> truth,
                        std::optional<double> threshold) {
    Measure measure{.columns = rows.scores.size(),
                    .names = {"accuracy", "mcc", "f1_macro", "auroc", "auprc"},
                    .names_of_each = {"rows", "precision", "recall", "f1", "auroc", "auprc"}};
    measure.column = [rows, truth,
                      called = called_classes(rows, threshold)](std::size_t k) -> Measure::Column {
        const auto is_class = [k](std::span<const std::uint32_t> classes) {
            std::vector<std::uint8_t> is(classes.size());
            std::ranges::transform(classes, is.begin(), [k](std::uint32_t one) { return one == k ? 1 : 0; });
            return is;
        };
        return [one = one_against_others(rows, k, is_class(truth), is_class(called))](Weights weights) {
            const auto [counts, areas] = one(weights);
            return FigureValues{counts.positives(), counts.precision(),
                                counts.recall(),    counts.f1(),
                                areas.roc_auc,      areas.average_precision,
                                counts.predicted(), static_cast<double>(counts.true_positives)};
        };
    };
    measure.all = class_figures;
    return measure;
}

Measure measure_labels(const MeasuredRows& rows, std::vector<std::span<const std::uint8_t>> truth,
                       std::optional<double> threshold) {
    Measure measure{.columns = rows.scores.size()};
    if (!threshold) {
        measure.names = measure.names_of_each = {"auroc", "auprc"};
        measure.column = [rows, truth = std::move(truth)](std::size_t label) -> Measure::Column {
            return [ranking = std::make_shared<const Ranking>(rows.scores[label], truth[label], rows.units)](
                       Weights weights) {
                const Areas areas = ranking->areas(weights);
                return FigureValues{areas.roc_auc, areas.average_precision};
            };
        };
        measure.all = [](const auto& each) { return FigureValues{mean_of(each, 0), mean_of(each, 1)}; };
        return measure;
    }
    measure.names = {"accuracy", "mcc", "f1_macro", "auroc", "auprc"};
    measure.names_of_each = {"rows", "precision", "recall", "f1", "mcc", "auroc", "auprc"};
    measure.column = [rows, truth = std::move(truth), threshold](std::size_t label) -> Measure::Column {
        std::vector<std::uint8_t> called;
        for (const float score : rows.scores[label])
            called.push_back(static_cast<double>(score) >= *threshold ? 1 : 0);
        return [one = one_against_others(rows, label, {truth[label].begin(), truth[label].end()},
                                         std::move(called))](Weights weights) {
            const auto [counts, areas] = one(weights);
            return FigureValues{
                counts.positives(), counts.precision(), counts.recall(),         counts.f1(),
                counts.mcc(),       areas.roc_auc,      areas.average_precision, counts.accuracy()};
        };
    };
    measure.all = [](const auto& each) {
        return FigureValues{mean_of(each, 7), mean_of(each, 4), mean_of(each, 3), mean_of(each, 5),
                            mean_of(each, 6)};
    };
    return measure;
}

}  // namespace bigbird::evaluation
