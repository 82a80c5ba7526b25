// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/record_targets.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace bigbird::task_models {

namespace {

Json json_of(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

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

class NumbersTarget : public Target {
public:
    LinkFunction link() const override { return LinkFunction::identity; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor&) const override {
        return (logits - targets.to(at::kFloat)).square().sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        return at::zeros({static_cast<std::int64_t>(rates.size())}, at::kDouble);  // the mean, standardized
    }
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const override {
        return number_figures(logits, truth, loss);
    }
};

class CountsTarget : public Target {
public:
    LinkFunction link() const override { return LinkFunction::exponential; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor&) const override {
        return (logits.exp() - targets.to(at::kFloat) * logits).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        return at::tensor(rates, at::kDouble).clamp_min(1e-6).log();
    }
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const override {
        return number_figures(logits.to(at::kDouble).exp(), truth, loss);
    }
};

class CoverageTarget : public Target {
public:
    explicit CoverageTarget(CoverageLoss loss) : loss_(loss) {}
    LinkFunction link() const override { return LinkFunction::softplus; }
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                        const at::Tensor& counts) const override {
        constexpr double total_weight = 0.2;
        const at::Tensor mask = counts.defined() ? counts.to(at::kFloat) : at::ones_like(logits);
        const at::Tensor rate = at::softplus(logits).clamp_min(least_rate), y = targets.to(at::kFloat);
        if (loss_ == CoverageLoss::log_squared) return ((rate.log1p() - y.log1p()).square() * mask).sum();
        if (loss_ == CoverageLoss::poisson) return ((rate - y * rate.log()) * mask).sum();
        const at::Tensor rates = (rate * mask).sum(1, true).clamp_min(least_rate),
                         sums = (y * mask).sum(1, true);
        return (y * mask * (rates.log() - rate.log())).sum() +
               total_weight * (rates - sums * rates.log()).sum();
    }
    at::Tensor bias_at(const std::vector<double>& rates) const override {
        return at::tensor(rates, at::kDouble).clamp_min(least_rate).expm1().log();
    }
    Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const override {
        return number_figures(at::softplus(logits), truth, loss);
    }

private:
    static constexpr double least_rate = 1e-6;
    CoverageLoss loss_;
};

}  // namespace

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

std::unique_ptr<Target> numbers_target() {
    return std::make_unique<NumbersTarget>();
}

std::unique_ptr<Target> counts_target() {
    return std::make_unique<CountsTarget>();
}

std::unique_ptr<Target> coverage_target(CoverageLoss loss) {
    return std::make_unique<CoverageTarget>(loss);
}

}  // namespace bigbird::task_models
