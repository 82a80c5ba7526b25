// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/sequences/sequence_figures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

namespace {

const std::vector<std::string> class_names{"accuracy", "mcc", "f1_macro", "auroc", "auprc"};
const std::vector<std::string> each_class_names{"rows", "precision", "recall", "f1", "auroc", "auprc"};
const std::vector<std::string> each_label_names{"rows", "precision", "recall", "f1", "mcc", "auroc", "auprc"};

std::vector<std::string> number_names(bool coverage, bool profiles) {
    std::vector<std::string> names{"pearson", "spearman", "r2", "mse"};
    if (coverage) {
        names.insert(names.end(), {"r2_log1p", "deviance", "pearson_units", "spearman_units",
                                   "pearson_across", "pearson_mean_track"});
        if (profiles) names.insert(names.end(), {"profile_jsd", "profile_jsd_flat"});
    }
    return names;
}

std::optional<double> mean_of(const FigureValues& values) {
    return summarise(values).mean;
}

std::vector<float> column_of(std::span<const float> values, std::size_t columns, std::size_t column) {
    std::vector<float> some;
    for (std::size_t i = column; i < values.size(); i += columns)
        some.push_back(values[i]);
    return some;
}

double weight_of(Weights weights, std::uint32_t unit) {
    return weights.empty() ? 1.0 : static_cast<double>(weights[unit]);
}

/// Rows by class, by called class, and with both equal.
struct ClassCounts {
    std::vector<double> truth, called, right;
    double rows = 0;

    std::optional<double> accuracy() const {
        const double all_right = std::accumulate(right.begin(), right.end(), 0.0);
        return rows > 0 ? std::optional(all_right / rows) : std::nullopt;
    }
    /// Matthews' coefficient of several classes (Gorodkin 2004).
    std::optional<double> mcc() const {
        double both = 0, truth2 = 0, called2 = 0, all_right = 0;
        for (std::size_t k = 0; k < truth.size(); ++k) {
            both += truth[k] * called[k];
            truth2 += truth[k] * truth[k];
            called2 += called[k] * called[k];
            all_right += right[k];
        }
        const double margins = std::sqrt(rows * rows - truth2) * std::sqrt(rows * rows - called2);
        return margins > 0 ? std::optional((all_right * rows - both) / margins) : std::nullopt;
    }
    std::optional<double> f1(std::size_t k) const {
        const double margins = truth[k] + called[k];
        return margins > 0 ? std::optional(2 * right[k] / margins) : std::nullopt;
    }
    std::optional<double> f1_macro() const {
        FigureValues values;
        for (std::size_t k = 0; k < truth.size(); ++k)
            values.push_back(f1(k));
        return mean_of(values);
    }
};

class ClassMeasure : public SequenceMeasure {
public:
    ClassMeasure(const MeasuredRows& rows, std::span<const std::uint32_t> truth,
                 std::optional<double> threshold)
        : SequenceMeasure(class_names, each_class_names, rows.units),
          classes_(rows.columns),
          truth_(truth.begin(), truth.end()) {
        for (std::size_t i = 0; i < truth.size(); ++i) {
            const auto scores = rows.scores.subspan(i * classes_, classes_);
            const auto best = std::ranges::max_element(scores) - scores.begin();
            called_.push_back(threshold ? (static_cast<double>(scores[1]) >= *threshold ? 1U : 0U)
                                        : static_cast<std::uint32_t>(best));
        }
        for (std::size_t k = 0; k < classes_; ++k) {
            std::vector<std::uint8_t> is_class;
            for (const std::uint32_t one : truth_)
                is_class.push_back(one == k ? 1 : 0);
            rankings_.emplace_back(column_of(rows.scores, classes_, k), is_class, units_);
        }
    }
    FigureValues figures(Weights weights) const override {
        const ClassCounts counts = count(weights);
        FigureValues roc, precision;
        for (std::size_t k = classes_ == 2 ? 1 : 0; k < classes_; ++k) {
            const Areas areas = rankings_[k].areas(weights);
            roc.push_back(areas.roc_auc);
            precision.push_back(areas.average_precision);
        }
        return {counts.accuracy(), counts.mcc(), counts.f1_macro(), mean_of(roc), mean_of(precision)};
    }
    std::vector<FigureValues> figures_of_each() const override {
        const ClassCounts counts = count({});
        std::vector<FigureValues> each;
        for (std::size_t k = 0; k < classes_; ++k) {
            const Areas areas = rankings_[k].areas();
            const auto ratio = [&](double of) {
                return of > 0 ? std::optional(counts.right[k] / of) : std::nullopt;
            };
            each.push_back({counts.truth[k], ratio(counts.called[k]), ratio(counts.truth[k]), counts.f1(k),
                            areas.roc_auc, areas.average_precision});
        }
        return each;
    }
    std::vector<std::vector<std::int64_t>> confusion() const override {
        std::vector<std::vector<std::int64_t>> counts(classes_, std::vector<std::int64_t>(classes_));
        for (std::size_t i = 0; i < truth_.size(); ++i)
            ++counts[truth_[i]][called_[i]];
        return counts;
    }

private:
    ClassCounts count(Weights weights) const {
        ClassCounts counts{std::vector<double>(classes_), std::vector<double>(classes_),
                           std::vector<double>(classes_)};
        for (std::size_t i = 0; i < truth_.size(); ++i) {
            const double weight = weight_of(weights, units_[i]);
            counts.rows += weight;
            counts.truth[truth_[i]] += weight;
            counts.called[called_[i]] += weight;
            if (truth_[i] == called_[i]) counts.right[truth_[i]] += weight;
        }
        return counts;
    }

    std::size_t classes_;
    std::vector<std::uint32_t> truth_, called_;
    std::vector<Ranking> rankings_;
};

class LabelMeasure : public SequenceMeasure {
public:
    LabelMeasure(const MeasuredRows& rows, std::span<const std::uint8_t> truth, double threshold)
        : SequenceMeasure(class_names, each_label_names, rows.units) {
        for (std::size_t label = 0; label < rows.columns; ++label) {
            const std::vector<float> scores = column_of(rows.scores, rows.columns, label);
            Label& one = labels_.emplace_back();
            for (std::size_t i = 0; i < scores.size(); ++i) {
                one.truth.push_back(truth[i * rows.columns + label]);
                one.called.push_back(static_cast<double>(scores[i]) >= threshold ? 1 : 0);
            }
            one.ranking.emplace(scores, one.truth, units_);
        }
    }
    FigureValues figures(Weights weights) const override {
        FigureValues accuracy, mcc, f1, roc, precision;
        for (const Label& label : labels_) {
            const Confusion counts = count(label, weights);
            const Areas areas = label.ranking->areas(weights);
            accuracy.push_back(counts.accuracy());
            mcc.push_back(counts.mcc());
            f1.push_back(counts.f1());
            roc.push_back(areas.roc_auc);
            precision.push_back(areas.average_precision);
        }
        return {mean_of(accuracy), mean_of(mcc), mean_of(f1), mean_of(roc), mean_of(precision)};
    }
    std::vector<FigureValues> figures_of_each() const override {
        std::vector<FigureValues> each;
        for (const Label& label : labels_) {
            const Confusion counts = count(label, {});
            const Areas areas = label.ranking->areas();
            each.push_back({static_cast<double>(counts.true_positives + counts.false_negatives),
                            counts.precision(), counts.recall(), counts.f1(), counts.mcc(), areas.roc_auc,
                            areas.average_precision});
        }
        return each;
    }

private:
    struct Label {
        std::vector<std::uint8_t> truth, called;
        std::optional<Ranking> ranking;
    };
    Confusion count(const Label& label, Weights weights) const {
        Confusion counts;
        for (std::size_t i = 0; i < units_.size(); ++i)
            counts.count(label.truth[i] != 0, label.called[i] != 0, weights.empty() ? 1 : weights[units_[i]]);
        return counts;
    }

    std::vector<Label> labels_;
};

/// Sums of squares and products of two weighted variables, relative to their means.
struct Moments {
    double weight = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;

    /// Whether values differ by more than rounding; float32 values that differ do so by far more.
    bool varies_x() const { return xx > 1e-28 * weight * mean_x * mean_x; }
    bool varies_y() const { return yy > 1e-28 * weight * mean_y * mean_y; }
    std::optional<double> correlation() const {
        const bool varies = varies_x() && varies_y();
        return varies ? std::optional(xy / (std::sqrt(xx) * std::sqrt(yy))) : std::nullopt;
    }
};

template <typename X, typename Y, typename Weight>
Moments moments_of(std::size_t rows, const X& x, const Y& y, const Weight& weight) {
    Moments of;
    for (std::size_t i = 0; i < rows; ++i) {
        of.weight += weight(i);
        of.mean_x += weight(i) * x(i);
        of.mean_y += weight(i) * y(i);
    }
    of.mean_x /= of.weight;
    of.mean_y /= of.weight;
    for (std::size_t i = 0; i < rows; ++i) {
        const double dx = x(i) - of.mean_x, dy = y(i) - of.mean_y;
        of.xx += weight(i) * dx * dx;
        of.yy += weight(i) * dy * dy;
        of.xy += weight(i) * dx * dy;
    }
    return of;
}

/// A number's predicted and true values, and the sort orders of both.
class NumberPair {
public:
    NumberPair(std::vector<float> predicted, std::vector<float> truth)
        : predicted_(std::move(predicted)),
          truth_(std::move(truth)),
          by_predicted_(order_of(predicted_)),
          by_truth_(order_of(truth_)) {}

    template <typename Weight>
    FigureValues figures(const Weight& weight) const {
        const std::size_t rows = truth_.size();
        const Moments values = moments(weight);
        const std::vector<double> rank_x = ranks(predicted_, by_predicted_, weight),
                                  rank_y = ranks(truth_, by_truth_, weight);
        const Moments ranked = moments_of(
            rows, [&](std::size_t i) { return rank_x[i]; }, [&](std::size_t i) { return rank_y[i]; }, weight);
        double errors = 0;
        for (std::size_t i = 0; i < rows; ++i)
            errors += weight(i) * (truth(i) - predicted(i)) * (truth(i) - predicted(i));
        const std::optional<double> r2 =
            values.varies_y() ? std::optional(1 - errors / values.yy) : std::nullopt;
        return {values.correlation(), ranked.correlation(), r2, errors / values.weight};
    }

    template <typename Weight>
    Moments moments(const Weight& weight) const {
        return moments_of(
            size(), [&](std::size_t i) { return predicted(i); }, [&](std::size_t i) { return truth(i); },
            weight);
    }
    std::size_t size() const { return truth_.size(); }
    double predicted(std::size_t i) const { return static_cast<double>(predicted_[i]); }
    double truth(std::size_t i) const { return static_cast<double>(truth_[i]); }

private:
    static std::vector<std::size_t> order_of(const std::vector<float>& values) {
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
        return order;
    }
    /// The rank of each row, as the mean rank over its copies and all rows with the same value.
    template <typename Weight>
    static std::vector<double> ranks(const std::vector<float>& values, const std::vector<std::size_t>& order,
                                     const Weight& weight) {
        std::vector<double> ranks(values.size());
        double before = 0;
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            double tied = 0;
            for (; end < order.size() && values[order[end]] == values[order[begin]]; ++end)
                tied += weight(order[end]);
            for (std::size_t i = begin; i < end; ++i)
                ranks[order[i]] = before + (tied + 1) / 2;
            before += tied;
        }
        return ranks;
    }

    std::vector<float> predicted_, truth_;
    std::vector<std::size_t> by_predicted_, by_truth_;
};

/// The values minus the mean over their row's columns.
std::vector<float> centred(std::span<const float> values, std::size_t columns) {
    std::vector<float> less(values.begin(), values.end());
    for (std::size_t row = 0; row < less.size(); row += columns) {
        const std::span<float> own(less.data() + row, columns);
        const float mean = std::accumulate(own.begin(), own.end(), 0.0F) / static_cast<float>(columns);
        for (float& value : own)
            value -= mean;
    }
    return less;
}

/// The mean of the other columns, of which there must be one.
std::vector<float> mean_of_others(std::span<const float> values, std::size_t columns, std::size_t column) {
    std::vector<float> means;
    for (std::size_t row = 0; row < values.size(); row += columns) {
        const std::span<const float> own = values.subspan(row, columns);
        const double sum = std::accumulate(own.begin(), own.end(), 0.0) - static_cast<double>(own[column]);
        means.push_back(static_cast<float>(sum / static_cast<double>(columns - 1)));
    }
    return means;
}

/// r2_log1p and deviance of a track.
template <typename Weight>
FigureValues count_figures(const NumberPair& track, const Weight& weight) {
    constexpr double least_rate = 1e-9;
    const auto x = [&](std::size_t i) { return std::log1p(std::max(track.predicted(i), 0.0)); };
    const auto y = [&](std::size_t i) { return std::log1p(track.truth(i)); };
    const Moments logs = moments_of(track.size(), x, y, weight);
    double errors = 0, deviance = 0;
    for (std::size_t i = 0; i < track.size(); ++i) {
        errors += weight(i) * (y(i) - x(i)) * (y(i) - x(i));
        const double seen = track.truth(i), rate = std::max(track.predicted(i), least_rate);
        deviance += weight(i) * 2 * ((seen > 0 ? seen * std::log(seen / rate) : 0) - (seen - rate));
    }
    return {logs.varies_y() ? std::optional(1 - errors / logs.yy) : std::nullopt, deviance / logs.weight};
}

/// The sum of each unit's values.
std::vector<float> sums_of(const std::vector<float>& values, std::span<const std::uint32_t> units) {
    std::vector<double> sums(units.empty() ? 0 : *std::ranges::max_element(units) + 1);
    for (std::size_t i = 0; i < values.size(); ++i)
        sums[units[i]] += static_cast<double>(values[i]);
    return {sums.begin(), sums.end()};
}

/// Jensen-Shannon distances of a window's shares of truth: to its shares of scores, and to equal shares.
struct ProfileWindow {
    std::uint32_t unit = 0;
    double total = 0, distance = 0, flat = 0;  ///< of the truth
};

/// sqrt of the mean of two divergences to the mean of p and q, which sum to 1 after division by their sums.
template <typename P, typename Q>
double js_distance(std::size_t size, const P& p, double p_sum, const Q& q, double q_sum) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const double a = p(i) / p_sum, b = q(i) / q_sum, mean = (a + b) / 2;
        sum += (a > 0 ? a * std::log(a / mean) : 0) + (b > 0 ? b * std::log(b / mean) : 0);
    }
    return std::sqrt(std::max(sum / 2, 0.0));
}

/// A track's windows.
std::vector<ProfileWindow> profiles_of(const std::vector<float>& predicted, const std::vector<float>& truth,
                                       const MeasuredRows& rows) {
    constexpr double least = 1e-12;
    std::vector<ProfileWindow> windows;
    for (std::size_t begin = 0, end = 0; begin < truth.size(); begin = end) {
        ProfileWindow& window = windows.emplace_back(rows.units[begin]);
        double sum = 0;
        const auto x = [&](std::size_t i) {
            return std::max(static_cast<double>(predicted[begin + i]), least);
        };
        const auto y = [&](std::size_t i) { return static_cast<double>(truth[begin + i]); };
        for (; end < truth.size() && rows.profiles[end] == rows.profiles[begin] &&
               rows.units[end] == window.unit;
             ++end) {
            window.total += y(end - begin);
            sum += x(end - begin);
        }
        if (window.total <= 0) continue;
        const std::size_t size = end - begin;
        window.distance = js_distance(size, y, window.total, x, sum);
        window.flat = js_distance(
            size, y, window.total, [](std::size_t) { return 1.0; }, static_cast<double>(size));
    }
    return windows;
}

/// profile_jsd, profile_jsd_flat.
FigureValues profile_figures(const std::vector<ProfileWindow>& windows, Weights weights) {
    ProfileWindow sum;
    for (const ProfileWindow& one : windows) {
        const double weight = weight_of(weights, one.unit) * one.total;
        sum.total += weight;
        sum.distance += weight * one.distance;
        sum.flat += weight * one.flat;
    }
    if (sum.total <= 0) return {{}, {}};
    return {sum.distance / sum.total, sum.flat / sum.total};
}

class NumberMeasure : public SequenceMeasure {
public:
    NumberMeasure(const MeasuredRows& rows, std::span<const float> truth, bool coverage)
        : SequenceMeasure(number_names(coverage, !rows.profiles.empty()),
                          number_names(coverage, !rows.profiles.empty()), rows.units) {
        constexpr std::size_t fewest_units = 3;  // two are always on a line
        const std::vector<float> less = coverage ? centred(rows.scores, rows.columns) : std::vector<float>(),
                                 true_less = coverage ? centred(truth, rows.columns) : std::vector<float>();
        for (std::size_t column = 0; column < rows.columns; ++column) {
            const std::vector<float> predicted = column_of(rows.scores, rows.columns, column),
                                     seen = column_of(truth, rows.columns, column);
            Number& number = numbers_.emplace_back(Number{.values{predicted, seen}});
            if (!coverage) continue;
            number.across.emplace(column_of(less, rows.columns, column),
                                  column_of(true_less, rows.columns, column));
            NumberPair sums(sums_of(predicted, units_), sums_of(seen, units_));
            if (sums.size() >= fewest_units) number.units = std::move(sums);
            if (rows.columns > 1) number.others.emplace(mean_of_others(truth, rows.columns, column), seen);
            if (!rows.profiles.empty()) number.profiles = profiles_of(predicted, seen, rows);
        }
    }
    FigureValues figures(Weights weights) const override {
        std::vector<FigureValues> by_figure(names.size());
        for (const Number& number : numbers_) {
            const FigureValues figures = figures_of(number, weights);
            for (std::size_t i = 0; i < figures.size(); ++i)
                by_figure[i].push_back(figures[i]);
        }
        FigureValues means(names.size());
        std::ranges::transform(by_figure, means.begin(), mean_of);
        return means;
    }
    std::vector<FigureValues> figures_of_each() const override {
        std::vector<FigureValues> each;
        for (const Number& number : numbers_)
            each.push_back(figures_of(number, {}));
        return each;
    }

private:
    struct Number {
        NumberPair values;
        /// Of coverage: the sums of units, values minus their row's mean, the mean of the other tracks.
        std::optional<NumberPair> units{}, across{}, others{};
        std::vector<ProfileWindow> profiles{};
    };

    FigureValues figures_of(const Number& number, Weights weights) const {
        const auto weight = [&](std::size_t i) { return weight_of(weights, units_[i]); };
        const auto of_unit = [&](std::size_t i) { return weight_of(weights, static_cast<std::uint32_t>(i)); };
        FigureValues figures = number.values.figures(weight);
        if (!number.across) return figures;
        const auto append = [&](const FigureValues& more) {
            figures.insert(figures.end(), more.begin(), more.end());
        };
        append(count_figures(number.values, weight));
        FigureValues units = number.units ? number.units->figures(of_unit) : FigureValues(2);
        units.resize(2);  // pearson, spearman
        append(units);
        append({number.across->moments(weight).correlation()});
        append({number.others ? number.others->moments(weight).correlation() : std::nullopt});
        if (!number.profiles.empty()) append(profile_figures(number.profiles, weights));
        return figures;
    }

    std::vector<Number> numbers_;
};

}  // namespace

std::unique_ptr<SequenceMeasure> measure_classes(const MeasuredRows& rows,
                                                 std::span<const std::uint32_t> truth,
                                                 std::optional<double> threshold) {
    return std::make_unique<ClassMeasure>(rows, truth, threshold);
}

std::unique_ptr<SequenceMeasure> measure_labels(const MeasuredRows& rows, std::span<const std::uint8_t> truth,
                                                double threshold) {
    return std::make_unique<LabelMeasure>(rows, truth, threshold);
}

std::unique_ptr<SequenceMeasure> measure_numbers(const MeasuredRows& rows, std::span<const float> truth,
                                                 bool coverage) {
    return std::make_unique<NumberMeasure>(rows, truth, coverage);
}

}  // namespace bigbird::evaluation
