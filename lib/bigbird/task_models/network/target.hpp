// SPDX-License-Identifier: Apache-2.0
// What the logits of a task mean: labels on their own, or one label of several that exclude each other. How
// they are learned, measured, calibrated and made probabilities.
#pragma once

#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/task_models/files/task_files.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

namespace bigbird::task_models {

/// A label's weight in the loss is at most this many times the least.
inline constexpr double largest_balanced_weight = 100;
/// Zeros / ones of a label, 1 where it has no ones, at most largest_balanced_weight.
double balanced_weight(std::int64_t ones, std::int64_t rows);

/// Makes logits probabilities, or numbers. Immutable; thread-safe.
class ScoreCalibration {
public:
    /// The link function only.
    explicit ScoreCalibration(LinkFunction link = LinkFunction::logistic) : link_(link) {}
    ScoreCalibration(const evaluation::Calibration& calibration, const at::Device& device,
                     LinkFunction link = LinkFunction::logistic);
    /// For numbers.
    ScoreCalibration(const Standardisation& standardisation, const at::Device& device,
                     LinkFunction link = LinkFunction::identity);

    /// (…, labels) logits on any device -> probabilities (or numbers) of the same type there.
    at::Tensor probabilities(const at::Tensor& logits) const;

private:
    LinkFunction link_;
    double temperature_ = 1;
    at::Tensor biases_;     // (labels) float64 on the model's device; undefined: none
    at::Tensor deviation_;  // (labels) likewise, of numbers, whose means are the biases
};

/// A calibration of (rows, labels) logits, float32 on the CPU, and truth there: 0 and 1, (rows, labels), or
/// with softmax the label of each row, integers. Nothing without rows, and where a logit is not finite.
std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads, LinkFunction link = LinkFunction::logistic);

/// AUROCs of float32 scores against 0 and 1, both (rows, labels), over the labels that have an AUROC and at
/// least 10 positives; where no label has 10, over all with an AUROC.
evaluation::Summary validation_auroc(const at::Tensor& scores, const at::Tensor& truth);

/// Mean figures of probabilities (rows, labels) against each row's label, int64, over the labels with 10
/// rows, without the first. "eval_auroc", "eval_auprc", "eval_f1" (a row is called its most probable label);
/// "eval_labels" counts the labels. Null where there is none.
Json label_figures(const at::Tensor& probabilities, const at::Tensor& truth);

/// The meaning of logits in training.
class Target {
public:
    virtual ~Target() = default;
    virtual LinkFunction link() const = 0;
    /// Sum over segments that count and their labels; tensors on one device. logits: (windows, segments,
    /// labels). `targets`, of that shape: 0 and 1, or with softmax how many bases of a segment have each
    /// label. `counts`, (windows, segments, 1): 1 or 0; undefined: every segment counts.
    virtual at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                                const at::Tensor& counts) const = 0;
    /// The output bias that predicts best without looking at a window, (labels) float64, where labels have
    /// these rates among what is drawn; of labels that exclude each other, any multiples of them. Labels are
    /// rare, and a step moves a bias by no more than the learning rate; without this the layers before learn
    /// a constant first.
    virtual at::Tensor bias_at(const std::vector<double>& rates) const = 0;
    /// Figures of logits (rows, labels) float32 on the CPU and their truth, as fit_on_validation() takes it;
    /// `loss`: what loss_sum() of them gave, over what counted. An object with "eval_loss" and "eval_auroc".
    virtual Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const = 0;
    /// The same of no rows.
    static Json no_figures() { return {{"eval_loss", nullptr}, {"eval_auroc", nullptr}}; }
};

/// Labels on their own: binary cross entropy with a sigmoid each. `weights`: of a 1 in the loss, one for all
/// or one for each label. `with_auprc`: figures have "eval_auprc".
std::unique_ptr<Target> labels_target(const std::vector<double>& weights, const at::Device& device,
                                      bool with_auprc);
/// One label of several, the first for bases of no row: the loss is -ln p of the label, with a weight for
/// each.
std::unique_ptr<Target> softmax_target(const std::vector<double>& weights, const at::Device& device);

}  // namespace bigbird::task_models
