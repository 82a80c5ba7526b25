// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/target.hpp"

#include "bigbird/evaluation/curves/calibration.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t fewest_positives = 10;  // with fewer, the area under the curve is mostly noise

Json json_of(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
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
        const at::Tensor losses = at::binary_cross_entropy_with_logits(
            logits, targets.to(at::kFloat), {}, weights_.to(logits.device()), at::Reduction::None);
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

}  // namespace

double balanced_weight(std::int64_t ones, std::int64_t rows) {
    if (ones == 0) return 1;
    return std::min(largest_balanced_weight, static_cast<double>(rows - ones) / static_cast<double>(ones));
}

ScoreCalibration::ScoreCalibration(const evaluation::Calibration& calibration, const at::Device& device,
                                   LinkFunction link)
    : link_(link),
      temperature_(calibration.temperature),
      biases_(at::tensor(calibration.biases, at::kDouble).to(device)) {}

ScoreCalibration::ScoreCalibration(const Standardisation& standardisation, const at::Device& device,
                                   LinkFunction link)
    : link_(link),
      biases_(at::tensor(standardisation.mean, at::kDouble).to(device)),
      deviation_(at::tensor(standardisation.deviation, at::kDouble).to(device)) {}

at::Tensor ScoreCalibration::probabilities(const at::Tensor& logits) const {
    if (link_ == LinkFunction::exponential) return logits.exp();
    if (link_ == LinkFunction::identity || link_ == LinkFunction::softplus) {
        const at::Tensor values = link_ == LinkFunction::softplus ? at::softplus(logits) : logits;
        return deviation_.defined() ? values * deviation_.to(logits.options()) + biases_.to(logits.options())
                                    : values;
    }
    const at::Tensor scores =
        biases_.defined() ? logits / temperature_ + biases_.to(logits.options()) : logits;
    return link_ == LinkFunction::softmax ? scores.softmax(-1) : scores.sigmoid();
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

}  // namespace bigbird::task_models
