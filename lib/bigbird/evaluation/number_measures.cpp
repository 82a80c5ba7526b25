// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/measures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

namespace {

using Columns = std::vector<std::span<const float>>;

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
    /// `errors`: the weighted sum of (y - x)^2.
    std::optional<double> r2(double errors) const {
        return varies_y() ? std::optional(1 - errors / yy) : std::nullopt;
    }
};

template <typename Value, typename Weight>
Moments moments_of(std::span<const Value> x, std::span<const Value> y, const Weight& weight) {
    Moments of;
    for (std::size_t i = 0; i < y.size(); ++i) {
        of.weight += weight(i);
        of.mean_x += weight(i) * static_cast<double>(x[i]);
        of.mean_y += weight(i) * static_cast<double>(y[i]);
    }
    of.mean_x /= of.weight;
    of.mean_y /= of.weight;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double dx = static_cast<double>(x[i]) - of.mean_x, dy = static_cast<double>(y[i]) - of.mean_y;
        of.xx += weight(i) * dx * dx;
        of.yy += weight(i) * dy * dy;
        of.xy += weight(i) * dx * dy;
    }
    return of;
}

template <typename Weight>
LinearFigures linear_figures_of(std::span<const float> predicted, std::span<const float> truth,
                                const Weight& weight) {
    const Moments values = moments_of(predicted, truth, weight);
    double errors = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double error = static_cast<double>(truth[i]) - static_cast<double>(predicted[i]);
        errors += weight(i) * error * error;
    }
    return {values.correlation(), values.r2(errors), errors / values.weight};
}

/// A number's predicted and true values, which must outlive this, and the sort orders of both.
class NumberPair {
public:
    NumberPair(std::span<const float> predicted, std::span<const float> truth)
        : predicted_(predicted),
          truth_(truth),
          by_predicted_(order_of(predicted)),
          by_truth_(order_of(truth)) {}

    /// pearson, spearman, r2, mse.
    template <typename Weight>
    FigureValues figures(const Weight& weight) const {
        const std::vector<double> x = ranks(predicted_, by_predicted_, weight),
                                  y = ranks(truth_, by_truth_, weight);
        const LinearFigures linear = linear_figures_of(predicted_, truth_, weight);
        return {linear.pearson, moments_of<double>(x, y, weight).correlation(), linear.r2, linear.mse};
    }

private:
    static std::vector<std::size_t> order_of(std::span<const float> values) {
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
        return order;
    }
    /// The rank of each row, as the mean rank over its copies and all rows with the same value.
    template <typename Weight>
    static std::vector<double> ranks(std::span<const float> values, const std::vector<std::size_t>& order,
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

    std::span<const float> predicted_, truth_;
    std::vector<std::size_t> by_predicted_, by_truth_;
};

/// r2_log1p and deviance of a track.
template <typename Weight>
FigureValues count_figures(std::span<const float> predicted, std::span<const float> truth,
                           const Weight& weight) {
    constexpr double least_rate = 1e-9;
    std::vector<double> x, y;
    double errors = 0, deviance = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const auto value = static_cast<double>(predicted[i]), seen = static_cast<double>(truth[i]);
        const double rate = std::max(value, least_rate);
        x.push_back(std::log1p(std::max(value, 0.0)));
        y.push_back(std::log1p(seen));
        errors += weight(i) * (y[i] - x[i]) * (y[i] - x[i]);
        deviance += weight(i) * 2 * ((seen > 0 ? seen * std::log(seen / rate) : 0) - (seen - rate));
    }
    const Moments logs = moments_of<double>(x, y, weight);
    return {logs.r2(errors), deviance / logs.weight};
}

template <typename Value>
std::vector<Value> sums_of_rows(const Columns& columns) {
    std::vector<Value> sums(columns.front().size());
    for (const std::span<const float> column : columns)
        std::ranges::transform(sums, column, sums.begin(), std::plus<Value>());
    return sums;
}

std::vector<float> means_of_rows(const Columns& columns) {
    std::vector<float> means = sums_of_rows<float>(columns);
    for (float& mean : means)
        mean /= static_cast<float>(columns.size());
    return means;
}

std::vector<float> minus(std::span<const float> values, const std::vector<float>& means) {
    std::vector<float> less(values.size());
    std::ranges::transform(values, means, less.begin(), std::minus());
    return less;
}

/// The mean of the other columns, of which there must be one. `sums`: over all columns.
std::vector<float> mean_of_others(std::span<const float> values, const std::vector<double>& sums,
                                  std::size_t columns) {
    std::vector<float> means;
    for (std::size_t row = 0; row < values.size(); ++row) {
        means.push_back(static_cast<float>((sums[row] - static_cast<double>(values[row])) /
                                           static_cast<double>(columns - 1)));
    }
    return means;
}

/// The sum of each unit's values.
std::vector<float> sums_of_units(std::span<const float> values, std::span<const std::uint32_t> units) {
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
std::vector<ProfileWindow> profiles_of(std::span<const float> predicted, std::span<const float> truth,
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
template <typename Weight>
FigureValues profile_figures(const std::vector<ProfileWindow>& windows, const Weight& of_unit) {
    ProfileWindow sum;
    for (const ProfileWindow& one : windows) {
        const double weight = of_unit(one.unit) * one.total;
        sum.total += weight;
        sum.distance += weight * one.distance;
        sum.flat += weight * one.flat;
    }
    if (sum.total <= 0) return {{}, {}};
    return {sum.distance / sum.total, sum.flat / sum.total};
}

/// Of the rows: the means over predicted and true columns, and the sums of the true ones.
struct RowMeans {
    std::vector<float> predicted, truth;
    std::vector<double> sums;
};

/// A track of coverage. `rows`, and the columns that it is made of, must outlive it.
class Track {
public:
    Track(const MeasuredRows& rows, std::span<const float> predicted, std::span<const float> truth,
          const RowMeans& means)
        : predicted_(predicted),
          truth_(truth),
          sums_(sums_of_units(predicted, rows.units)),
          true_sums_(sums_of_units(truth, rows.units)),
          across_(minus(predicted, means.predicted)),
          true_across_(minus(truth, means.truth)),
          others_(rows.scores.size() > 1 ? mean_of_others(truth, means.sums, rows.scores.size())
                                         : std::vector<float>()) {
        constexpr std::size_t fewest_units = 3;  // two are always on a line
        if (sums_.size() >= fewest_units) units_.emplace(sums_, true_sums_);
        has_profiles_ = !rows.profiles.empty();
        if (has_profiles_) windows_ = profiles_of(predicted, truth, rows);
    }
    Track(const Track&) = delete;
    Track& operator=(const Track&) = delete;

    /// The figures after those of a number.
    template <typename Weight>
    void append(FigureValues& figures, const Weight& weight, Weights weights) const {
        const auto of_unit = [&](std::size_t unit) {
            return weights.empty() ? 1.0 : static_cast<double>(weights[unit]);
        };
        const auto add = [&](const FigureValues& more) {
            figures.insert(figures.end(), more.begin(), more.end());
        };
        add(count_figures(predicted_, truth_, weight));
        FigureValues units = units_ ? units_->figures(of_unit) : FigureValues(2);
        units.resize(2);  // pearson, spearman
        add(units);
        figures.push_back(moments_of<float>(across_, true_across_, weight).correlation());
        figures.push_back(others_.empty() ? std::nullopt
                                          : moments_of<float>(others_, truth_, weight).correlation());
        if (has_profiles_) add(profile_figures(windows_, of_unit));
    }

private:
    std::span<const float> predicted_, truth_;
    std::vector<float> sums_, true_sums_;      ///< of units
    std::vector<float> across_, true_across_;  ///< values minus their row's mean
    std::vector<float> others_;                ///< the mean of the other tracks; empty if there is none
    std::optional<NumberPair> units_;
    std::vector<ProfileWindow> windows_;
    bool has_profiles_ = false;
};

}  // namespace

Measure measure_numbers(const MeasuredRows& rows, Columns truth, bool coverage) {
    Measure measure{.columns = rows.scores.size(), .names = {"pearson", "spearman", "r2", "mse"}};
    std::shared_ptr<const RowMeans> means;
    if (coverage) {
        measure.names.insert(measure.names.end(), {"r2_log1p", "deviance", "pearson_units", "spearman_units",
                                                   "pearson_across", "pearson_mean_track"});
        if (!rows.profiles.empty())
            measure.names.insert(measure.names.end(), {"profile_jsd", "profile_jsd_flat"});
        means = std::make_shared<const RowMeans>(
            RowMeans{means_of_rows(rows.scores), means_of_rows(truth), sums_of_rows<double>(truth)});
    }
    measure.names_of_each = measure.names;
    measure.column = [rows, truth = std::move(truth), means](std::size_t column) -> Measure::Column {
        const std::span<const float> predicted = rows.scores[column], seen = truth[column];
        const auto values = std::make_shared<const NumberPair>(predicted, seen);
        const auto track = means ? std::make_shared<const Track>(rows, predicted, seen, *means) : nullptr;
        return [rows, values, track](Weights weights) {
            const auto weight = [&](std::size_t row) { return rows.weight(weights, row); };
            FigureValues figures = values->figures(weight);
            if (track) track->append(figures, weight, weights);
            return figures;
        };
    };
    measure.all = [](const std::vector<FigureValues>& each) {
        FigureValues means_of_all, values(each.size());
        for (std::size_t figure = 0; figure < each.front().size(); ++figure) {
            std::ranges::transform(each, values.begin(), [&](const auto& of) { return of[figure]; });
            means_of_all.push_back(summarise(values).mean);
        }
        return means_of_all;
    };
    return measure;
}

LinearFigures linear_figures(std::span<const float> predicted, std::span<const float> truth) {
    return linear_figures_of(
        predicted, truth, [](std::size_t) { return 1.0; });
}

}  // namespace bigbird::evaluation
