// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/target.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/curves/calibration.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace bigbird::tasks {

namespace {

constexpr std::int64_t fewest_positives = 10;  // with fewer, the area under the curve is mostly noise

using evaluation::FigureValues;

Json json_of(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json mean_of(const FigureValues& values) {
    return json_of(evaluation::summarise(values).mean);
}

/// The columns of (rows, columns), each in one piece.
template <typename Value>
struct ColumnsOf {
    explicit ColumnsOf(const at::Tensor& rows) : by_column(rows.t().contiguous()) {
        const auto count = static_cast<std::size_t>(rows.size(0));
        for (std::int64_t column = 0; column < rows.size(1); ++column)
            spans.emplace_back(by_column.const_data_ptr<Value>() + static_cast<std::size_t>(column) * count,
                               count);
    }

    at::Tensor by_column;
    std::vector<std::span<const Value>> spans;
};

// What measures give of each label or class first.
constexpr std::size_t rows_of_one = 0, f1_of_one = 3;

/// A figure of the labels or classes from `first` on that have at least `fewest` rows.
FigureValues figure_of(const std::vector<FigureValues>& each, std::size_t figure, std::size_t first = 0,
                       std::int64_t fewest = fewest_positives) {
    FigureValues values;
    for (std::size_t k = first; k < each.size(); ++k)
        if (*each[k][rows_of_one] >= static_cast<double>(fewest)) values.push_back(each[k][figure]);
    return values;
}

/// An area over the labels or classes that have enough rows; if it is defined for no such one, over all.
evaluation::Summary area_of(const std::vector<FigureValues>& each, std::size_t figure,
                            std::size_t first = 0) {
    const evaluation::Summary summary = evaluation::summarise(figure_of(each, figure, first));
    return summary.defined > 0 ? summary : evaluation::summarise(figure_of(each, figure, first, 0));
}

constexpr std::size_t auroc_of_label = 5, auprc_of_label = 6, auroc_of_class = 4, auprc_of_class = 5;

/// Of each label: what measure_labels() has. Scores and truth are (rows, labels).
std::vector<FigureValues> figures_of_labels(const at::Tensor& scores, const at::Tensor& truth) {
    const ColumnsOf<float> columns(scores);
    const ColumnsOf<std::uint8_t> ones(truth.to(at::kCPU, at::kByte));
    return evaluation::measure_labels({columns.spans}, ones.spans, 0.5).figures_of_each();
}

/// What measure_classes() has of probabilities (rows, classes) and each row's class: of each class, and of
/// all.
std::pair<std::vector<FigureValues>, FigureValues> figures_of_classes(const at::Tensor& probabilities,
                                                                      const at::Tensor& truth) {
    const ColumnsOf<float> columns(probabilities);
    const at::Tensor classes = truth.to(at::kLong).contiguous();
    const std::span<const std::int64_t> rows(classes.const_data_ptr<std::int64_t>(),
                                             static_cast<std::size_t>(classes.numel()));
    const std::vector<std::uint32_t> of_rows(rows.begin(), rows.end());
    const evaluation::Measure measure = evaluation::measure_classes({columns.spans}, of_rows);
    const std::vector<FigureValues> each = measure.figures_of_each();
    return {each, measure.all(each)};
}

class LabelsTarget : public Target {
public:
    LabelsTarget(const std::vector<double>& weights, const at::Device& device)
        : weights_(at::tensor(weights, at::kFloat).to(device)) {}
    LinkFunction link() const override { return LinkFunction::logistic; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor& counts) const override {
        const std::int64_t labels = logits.size(2);
        const at::Tensor weights = weights_.to(logits.device());
        at::Tensor losses = at::binary_cross_entropy_with_logits(
            logits, targets.narrow(2, 0, labels).to(at::kFloat), {}, weights, at::Reduction::None);
        if (targets.size(2) > labels) {
            const at::Tensor taught = targets.narrow(2, labels, labels);
            const at::Tensor softened =
                ((at::logit(taught, least_taught) + weights.log()) / taught_temperature).sigmoid();
            const at::Tensor of_teacher = at::binary_cross_entropy_with_logits(
                logits / taught_temperature, softened, {}, {}, at::Reduction::None);
            losses = at::where(taught >= 0,
                               (losses + taught_temperature * taught_temperature * of_teacher) / 2, losses);
        }
        return (counts.defined() ? losses * counts.to(at::kFloat) : losses).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        const at::Tensor p = at::tensor(rates, at::kDouble);
        return (weights_.to(at::kCPU, at::kDouble) * p / (1 - p)).log();
    }
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const override {
        const std::vector<FigureValues> each = figures_of_labels(logits, truth);
        const evaluation::Summary auroc = area_of(each, auroc_of_label);
        return {{"eval_loss", loss},
                {"eval_auroc", json_of(auroc.mean)},
                {"eval_auprc", json_of(area_of(each, auprc_of_label).mean)},
                {"eval_auroc_labels", auroc.defined}};
    }

private:
    static constexpr double taught_temperature = 4, least_taught = 1e-6;
    at::Tensor weights_;  // (1) or (labels)
};

/// One of several: labels of bases, or classes.
class ExclusiveTarget : public Target {
public:
    ExclusiveTarget(std::vector<double> weights, double smoothing, const at::Device& device)
        : weights_(std::move(weights)),
          on_device_(at::tensor(weights_, at::kFloat).to(device)),
          smoothing_(smoothing) {}
    LinkFunction link() const override { return LinkFunction::softmax; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor&) const override {
        const at::Tensor counts = targets.to(at::kFloat), weighted = counts * on_device_.to(logits.device()),
                         logarithms = at::log_softmax(logits, 2);
        if (smoothing_ == 0) return -(weighted * logarithms).sum();
        const at::Tensor shares =
            counts * (1 - smoothing_) + smoothing_ / static_cast<double>(logits.size(2));
        return -(weighted.sum(2, true) * shares * logarithms).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        return at::log_softmax((at::tensor(weights_, at::kDouble) * at::tensor(rates, at::kDouble)).log(), 0);
    }

private:
    std::vector<double> weights_;
    at::Tensor on_device_;  // (labels)
    double smoothing_;
};

class SoftmaxTarget : public ExclusiveTarget {
public:
    using ExclusiveTarget::ExclusiveTarget;
    /// The loss is without weights, unlike the training loss.
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double) const override {
        const at::Tensor probabilities = logits.softmax(1);
        const at::Tensor chosen =
            probabilities.gather(1, truth.unsqueeze(1)).to(at::kDouble).clamp_min(1e-30);
        Json figures = {{"eval_loss", -chosen.log().mean().item<double>()}};
        figures.update(label_figures(probabilities, truth));
        return figures;
    }
};

class ClassesTarget : public ExclusiveTarget {
public:
    using ExclusiveTarget::ExclusiveTarget;
    /// The loss is without weights and smoothing, unlike the training loss.
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double) const override {
        const at::Tensor chosen = at::log_softmax(logits.to(at::kDouble), 1).gather(1, truth.unsqueeze(1));
        const auto [each, all] = figures_of_classes(logits.softmax(1), truth);
        const std::size_t first = each.size() == 2 ? 1 : 0;
        return {{"eval_loss", -chosen.mean().item<double>()},
                {"eval_auroc", json_of(area_of(each, auroc_of_class, first).mean)},
                {"eval_auprc", json_of(area_of(each, auprc_of_class, first).mean)},
                {"eval_accuracy", json_of(all[0])},
                {"eval_mcc", json_of(all[1])}};
    }
};

/// Figures of predicted values (rows, numbers) against measured ones.
Json number_figures(const at::Tensor& values, const at::Tensor& truth, double loss) {
    const ColumnsOf<float> predicted(values.to(at::kFloat)), measured(truth.to(at::kFloat));
    FigureValues pearson, r2;
    for (std::size_t number = 0; number < predicted.spans.size(); ++number) {
        const auto of = evaluation::linear_figures(predicted.spans[number], measured.spans[number]);
        pearson.push_back(of.pearson);
        r2.push_back(of.r2);
    }
    return {{"eval_loss", loss},
            {"eval_auroc", nullptr},
            {"eval_pearson", mean_of(pearson)},
            {"eval_r2", mean_of(r2)}};
}

/// Numbers, counts or coverage, by the link function.
class NumbersTarget : public Target {
public:
    NumbersTarget(LinkFunction link, CoverageLoss loss) : link_(link), loss_(loss) {}
    LinkFunction link() const override { return link_; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor& counts) const override {
        const at::Tensor y = targets.to(at::kFloat);
        if (link_ == LinkFunction::identity) return (logits - y).square().sum();
        if (link_ == LinkFunction::exponential) return (logits.exp() - y * logits).sum();
        constexpr double total_weight = 0.2;
        const at::Tensor mask = counts.defined() ? counts.to(at::kFloat) : at::ones_like(logits);
        const at::Tensor rate = at::softplus(logits).clamp_min(least_rate);
        if (loss_ == CoverageLoss::log_squared) return ((rate.log1p() - y.log1p()).square() * mask).sum();
        if (loss_ == CoverageLoss::poisson) return ((rate - y * rate.log()) * mask).sum();
        const at::Tensor rates = (rate * mask).sum(1, true).clamp_min(least_rate),
                         sums = (y * mask).sum(1, true);
        return (y * mask * (rates.log() - rate.log())).sum() +
               total_weight * (rates - sums * rates.log()).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        const at::Tensor means = at::tensor(rates, at::kDouble);
        if (link_ == LinkFunction::identity) return at::zeros_like(means);  // standardized
        const at::Tensor rate = means.clamp_min(least_rate);
        return (link_ == LinkFunction::exponential ? rate : rate.expm1()).log();
    }
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const override {
        if (link_ == LinkFunction::exponential)
            return number_figures(logits.to(at::kDouble).exp(), truth, loss);
        return number_figures(link_ == LinkFunction::identity ? logits : at::softplus(logits), truth, loss);
    }

private:
    static constexpr double least_rate = 1e-6;
    LinkFunction link_;
    CoverageLoss loss_;
};

}  // namespace

double balanced_weight(std::int64_t ones, std::int64_t rows) {
    if (ones == 0) return 1;
    return std::min(largest_balanced_weight, static_cast<double>(rows - ones) / static_cast<double>(ones));
}

at::Tensor ScoreCalibration::probabilities(const at::Tensor& logits) const {
    if (link == LinkFunction::exponential) return logits.exp();
    if (const double offset = count_offset(link); offset > 0) return logits.exp() - offset;
    if (link == LinkFunction::identity || link == LinkFunction::softplus) {
        const at::Tensor values = link == LinkFunction::softplus ? at::softplus(logits) : logits;
        return deviation.defined() ? values * deviation.to(logits.options()) + biases.to(logits.options())
                                   : values;
    }
    const at::Tensor scores = biases.defined() ? logits / temperature + biases.to(logits.options()) : logits;
    return link == LinkFunction::softmax ? scores.softmax(-1) : scores.sigmoid();
}

namespace {

/// Fits the labels at these indices only.
std::optional<FittedCalibration> fit_some(const at::Tensor& logits, const at::Tensor& truth,
                                          const at::Tensor& labels, int threads) {
    if (labels.numel() == 0) return std::nullopt;
    auto fitted = fit_on_validation(logits.index_select(1, labels), truth.index_select(1, labels), threads);
    if (!fitted) return std::nullopt;
    std::vector<double>& biases = fitted->fit.calibration.biases;
    std::vector<double> all(static_cast<std::size_t>(logits.size(1)));
    for (std::size_t i = 0; i < biases.size(); ++i)
        all[static_cast<std::size_t>(labels[static_cast<std::int64_t>(i)].item<std::int64_t>())] = biases[i];
    biases = std::move(all);
    return fitted;
}

}  // namespace

std::string too_few_to_calibrate() {
    return fmt::format("no label has {0} positives and {0} negatives in validation", fewest_to_calibrate);
}

std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads, LinkFunction link) {
    const bool softmax = link == LinkFunction::softmax;
    if (logits.size(0) == 0) return std::nullopt;
    if (!softmax) {
        const at::Tensor ones = truth.to(at::kLong).sum(0);
        const at::Tensor fitted =
            (at::minimum(ones, logits.size(0) - ones) >= fewest_to_calibrate).nonzero().squeeze(1);
        if (fitted.numel() < logits.size(1)) return fit_some(logits, truth, fitted, threads);
    } else if ((at::bincount(truth) >= fewest_to_calibrate).sum().item<std::int64_t>() < 2) {
        return std::nullopt;
    }
    const at::Tensor rows = logits.to(at::kFloat);
    const at::Tensor scores = (softmax ? rows : rows.t()).contiguous();
    const at::Tensor wanted =
        softmax ? truth.to(at::kInt).contiguous() : truth.to(at::kByte).t().contiguous();
    const std::span<const float> values(scores.const_data_ptr<float>(),
                                        static_cast<std::size_t>(scores.numel()));
    const auto count = static_cast<std::size_t>(wanted.numel()),
               labels = static_cast<std::size_t>(rows.size(1));
    const std::optional<evaluation::CalibrationFit> fit =
        softmax ? evaluation::fit_softmax_calibration(values, {wanted.const_data_ptr<std::int32_t>(), count},
                                                      labels, threads)
                : evaluation::fit_calibration(values, {wanted.const_data_ptr<std::uint8_t>(), count}, labels,
                                              threads);
    if (!fit) return std::nullopt;
    return FittedCalibration{*fit, rows.size(0), link};
}

evaluation::Summary validation_auroc(const at::Tensor& scores, const at::Tensor& truth) {
    return area_of(figures_of_labels(scores, truth), auroc_of_label);
}

Json label_figures(const at::Tensor& probabilities, const at::Tensor& truth) {
    const std::vector<FigureValues> each = figures_of_classes(probabilities, truth).first;
    const FigureValues auroc = figure_of(each, auroc_of_class, 1);
    return {{"eval_auroc", mean_of(auroc)},
            {"eval_auprc", mean_of(figure_of(each, auprc_of_class, 1))},
            {"eval_f1", mean_of(figure_of(each, f1_of_one, 1))},
            {"eval_labels", auroc.size()}};
}

std::unique_ptr<Target> labels_target(const std::vector<double>& weights, const at::Device& device) {
    return std::make_unique<LabelsTarget>(weights, device);
}

std::unique_ptr<Target> softmax_target(const std::vector<double>& weights, const at::Device& device) {
    return std::make_unique<SoftmaxTarget>(weights, 0, device);
}

std::unique_ptr<Target> classes_target(const std::vector<double>& weights, double smoothing,
                                       const at::Device& device) {
    const std::vector<float> of_loss(weights.begin(), weights.end());
    return std::make_unique<ClassesTarget>(std::vector<double>(of_loss.begin(), of_loss.end()), smoothing,
                                           device);
}

std::unique_ptr<Target> numbers_target(LinkFunction link, CoverageLoss loss) {
    return std::make_unique<NumbersTarget>(link, loss);
}

}  // namespace bigbird::tasks
