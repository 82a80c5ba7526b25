// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/target.hpp"

#include "bigbird/evaluation/curves/calibration.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t fewest_positives = 10;  // with fewer, the area under the curve is mostly noise

Json json_of(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json mean_of(const std::vector<std::optional<double>>& values) {
    return json_of(evaluation::summarise(values).mean);
}

/// The scores of one label and where it is 1.
struct OneLabel {
    std::span<const float> scores;
    std::span<const std::uint8_t> ones;
    bool has_enough() const { return std::ranges::count(ones, std::uint8_t{1}) >= fewest_positives; }
};

/// Calls use() with each label's scores and truth; both are (rows, labels).
template <typename Use>
void for_labels(const at::Tensor& scores, const at::Tensor& truth, const Use& use) {
    const at::Tensor by_label = scores.t().contiguous();                     // (labels, rows)
    const at::Tensor ones = truth.t().to(at::kCPU, at::kByte).contiguous();  // (labels, rows)
    const auto rows = static_cast<std::size_t>(by_label.size(1));
    for (std::int64_t label = 0; label < by_label.size(0); ++label) {
        const std::size_t offset = static_cast<std::size_t>(label) * rows;
        use(OneLabel{{by_label.const_data_ptr<float>() + offset, rows},
                     {ones.const_data_ptr<std::uint8_t>() + offset, rows}});
    }
}

evaluation::Confusion confusion_of(const at::Tensor& called, const at::Tensor& truth, std::int64_t label) {
    const at::Tensor is = truth == label, says = called == label;
    const auto count = [](const at::Tensor& x) { return x.sum().item<std::int64_t>(); };
    evaluation::Confusion confusion;
    confusion.true_positives = count(is & says);
    confusion.false_positives = count(~is & says);
    confusion.false_negatives = count(is & ~says);
    confusion.true_negatives = count(~is & ~says);
    return confusion;
}

class LabelsTarget : public Target {
public:
    LabelsTarget(const std::vector<double>& weights, const at::Device& device, bool with_auprc)
        : weights_(at::tensor(weights, at::kFloat).to(device)), with_auprc_(with_auprc) {}
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
        const evaluation::Summary auroc = validation_auroc(logits, truth);
        Json figures = {{"eval_loss", loss}, {"eval_auroc", json_of(auroc.mean)}};
        if (with_auprc_) {
            std::vector<std::optional<double>> auprc;
            for_labels(logits, truth, [&](const OneLabel& label) {
                if (label.has_enough())
                    auprc.push_back(evaluation::average_precision(label.scores, label.ones));
            });
            figures["eval_auprc"] = mean_of(auprc);
        }
        figures["eval_auroc_labels"] = auroc.defined;
        return figures;
    }

private:
    static constexpr double taught_temperature = 4, least_taught = 1e-6;
    at::Tensor weights_;  // (1) or (labels)
    bool with_auprc_;
};

class SoftmaxTarget : public Target {
public:
    SoftmaxTarget(std::vector<double> weights, const at::Device& device)
        : weights_(std::move(weights)), on_device_(at::tensor(weights_, at::kFloat).to(device)) {}
    LinkFunction link() const override { return LinkFunction::softmax; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor&) const override {
        return -(targets * on_device_ * at::log_softmax(logits, 2)).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        const at::Tensor weighted = at::tensor(weights_, at::kDouble) * at::tensor(rates, at::kDouble);
        return at::log_softmax(weighted.log(), 0);
    }
    /// The loss is without weights, unlike the training loss.
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double) const override {
        const at::Tensor probabilities = logits.softmax(1);
        const at::Tensor chosen =
            probabilities.gather(1, truth.unsqueeze(1)).to(at::kDouble).clamp_min(1e-30);
        Json figures = {{"eval_loss", -chosen.log().mean().item<double>()}};
        figures.update(label_figures(probabilities, truth));
        return figures;
    }

private:
    std::vector<double> weights_;
    at::Tensor on_device_;  // (labels)
};

class ClassesTarget : public Target {
public:
    ClassesTarget(const std::vector<double>& weights, double smoothing, const at::Device& device)
        : weights_(at::tensor(weights, at::kFloat).to(device)), smoothing_(smoothing) {}
    LinkFunction link() const override { return LinkFunction::softmax; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor&) const override {
        const at::Tensor ones = targets.to(at::kFloat);
        const at::Tensor weight = (ones * weights_.to(logits.device())).sum(2, true);
        const at::Tensor shares = ones * (1 - smoothing_) + smoothing_ / static_cast<double>(logits.size(2));
        return -(weight * shares * at::log_softmax(logits, 2)).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        return at::log_softmax((weights_.to(at::kCPU, at::kDouble) * at::tensor(rates, at::kDouble)).log(),
                               0);
    }
    /// The loss is without weights and smoothing, unlike the training loss.
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double) const override {
        const std::int64_t classes = logits.size(1);
        const at::Tensor chosen = at::log_softmax(logits.to(at::kDouble), 1).gather(1, truth.unsqueeze(1));
        const at::Tensor probabilities = logits.softmax(1), called = logits.argmax(1);
        const std::int64_t first = classes == 2 ? 1 : 0;
        const at::Tensor ones = truth.unsqueeze(1) == at::arange(first, classes);
        const evaluation::Summary auroc =
            validation_auroc(probabilities.narrow(1, first, classes - first), ones);
        return {{"eval_loss", -chosen.mean().item<double>()},
                {"eval_auroc", json_of(auroc.mean)},
                {"eval_accuracy", called.eq(truth).to(at::kDouble).mean().item<double>()},
                {"eval_mcc", json_of(classes_mcc(called, truth, classes))}};
    }

private:
    at::Tensor weights_;  // (classes)
    double smoothing_;
};

/// Figures of predicted values (rows, numbers) against measured ones.
Json number_figures(const at::Tensor& values, const at::Tensor& truth, double loss) {
    const at::Tensor x = values.to(at::kDouble), y = truth.to(at::kDouble);
    const at::Tensor dx = x - x.mean(0), dy = y - y.mean(0), spread = dy.square().sum(0);
    const at::Tensor pearson = (dx * dy).sum(0) / (dx.square().sum(0) * spread).sqrt();
    const at::Tensor r2 = 1 - (x - y).square().sum(0) / spread;
    return {{"eval_loss", loss},
            {"eval_auroc", nullptr},
            {"eval_pearson", json_of(pearson.mean().item<double>())},
            {"eval_r2", json_of(r2.mean().item<double>())}};
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
    if (link == LinkFunction::identity || link == LinkFunction::softplus) {
        const at::Tensor values = link == LinkFunction::softplus ? at::softplus(logits) : logits;
        return deviation.defined() ? values * deviation.to(logits.options()) + biases.to(logits.options())
                                   : values;
    }
    const at::Tensor scores = biases.defined() ? logits / temperature + biases.to(logits.options()) : logits;
    return link == LinkFunction::softmax ? scores.softmax(-1) : scores.sigmoid();
}

std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads, LinkFunction link) {
    const bool softmax = link == LinkFunction::softmax;
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
    std::vector<std::optional<double>> values, trusted;
    for_labels(scores, truth, [&](const OneLabel& label) {
        values.push_back(evaluation::roc_auc(label.scores, label.ones));
        if (label.has_enough()) trusted.push_back(values.back());
    });
    const evaluation::Summary summary = evaluation::summarise(trusted);
    return summary.defined > 0 ? summary : evaluation::summarise(values);
}

Json label_figures(const at::Tensor& probabilities, const at::Tensor& truth) {
    const at::Tensor called = probabilities.argmax(1);
    const at::Tensor ones = truth.unsqueeze(1) == at::arange(probabilities.size(1));  // (rows, labels)
    std::vector<std::optional<double>> auroc, auprc, f1;
    std::int64_t number = -1;
    for_labels(probabilities, ones, [&](const OneLabel& label) {
        if (++number == 0 || !label.has_enough()) return;
        auroc.push_back(evaluation::roc_auc(label.scores, label.ones));
        auprc.push_back(evaluation::average_precision(label.scores, label.ones));
        f1.push_back(confusion_of(called, truth, number).f1());
    });
    return {{"eval_auroc", mean_of(auroc)},
            {"eval_auprc", mean_of(auprc)},
            {"eval_f1", mean_of(f1)},
            {"eval_labels", auroc.size()}};
}

std::unique_ptr<Target> labels_target(const std::vector<double>& weights, const at::Device& device,
                                      bool with_auprc) {
    return std::make_unique<LabelsTarget>(weights, device, with_auprc);
}

std::unique_ptr<Target> softmax_target(const std::vector<double>& weights, const at::Device& device) {
    return std::make_unique<SoftmaxTarget>(weights, device);
}

std::optional<double> classes_mcc(const at::Tensor& called, const at::Tensor& truth, std::int64_t classes) {
    const at::Tensor table = at::bincount(truth * classes + called, {}, classes * classes)
                                 .view({classes, classes})
                                 .to(at::kDouble);
    const at::Tensor of_truth = table.sum(1), of_called = table.sum(0);
    const double rows = table.sum().item<double>(), right = table.trace().item<double>();
    const double agreed = right * rows - of_truth.dot(of_called).item<double>();
    const double spread = (rows * rows - of_truth.dot(of_truth).item<double>()) *
                          (rows * rows - of_called.dot(of_called).item<double>());
    if (spread <= 0) return std::nullopt;
    return agreed / std::sqrt(spread);
}

std::unique_ptr<Target> classes_target(const std::vector<double>& weights, double smoothing,
                                       const at::Device& device) {
    return std::make_unique<ClassesTarget>(weights, smoothing, device);
}

std::unique_ptr<Target> numbers_target(LinkFunction link, CoverageLoss loss) {
    return std::make_unique<NumbersTarget>(link, loss);
}

}  // namespace bigbird::task_models
