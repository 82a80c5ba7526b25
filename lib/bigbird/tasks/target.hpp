// SPDX-License-Identifier: Apache-2.0
// The meaning of a task's logits: independent labels, one of several mutually exclusive labels or classes,
// numbers, or coverage. Defines their loss, figures, calibration and conversion to probabilities.
#pragma once

#include "bigbird/evaluation/measures.hpp"
#include "bigbird/tasks/files/task_files.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// Maximum ratio of the labels' weights in the loss.
inline constexpr double largest_balanced_weight = 100;
/// Zeros / ones of a label, at most largest_balanced_weight; 1 if it has no ones.
double balanced_weight(std::int64_t ones, std::int64_t rows);

/// Converts logits to probabilities, or to numbers. Thread-safe.
struct ScoreCalibration {
    LinkFunction link = LinkFunction::logistic;
    double temperature = 1;
    at::Tensor biases = {};     ///< (labels) float64 on the model's device; undefined: none
    at::Tensor deviation = {};  ///< (labels) float64 there, for numbers; biases then are their means

    /// (…, labels) logits on any device -> probabilities (or numbers) of the same type there.
    at::Tensor probabilities(const at::Tensor& logits) const;
};

/// Fits a calibration to logits, (rows, labels) float32 on the CPU, and their truth there. `truth`: 0 and 1,
/// (rows, labels); or, with softmax, the integer label of each row. Labels with fewer than
/// fewest_to_calibrate ones or zeros are not fitted: their bias is 0. Returns nullopt if there is no other
/// label (with softmax, not two labels with that many rows), or if a logit is not finite.
std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads, LinkFunction link = LinkFunction::logistic);

/// Positives, and negatives, of validation that a label needs to be calibrated: with fewer, a fit makes
/// scores of other rows worse (docs/development/measurements.md).
inline constexpr std::int64_t fewest_to_calibrate = 50;
/// "no label has 50 positives and 50 negatives in validation": why fit_on_validation() fits nothing.
std::string too_few_to_calibrate();

/// AUROCs of float32 scores against 0 and 1, both (rows, labels), over labels with an AUROC and at least 10
/// positives. If no label has 10, over all labels with an AUROC.
evaluation::Summary validation_auroc(const at::Tensor& scores, const at::Tensor& truth);

/// Mean figures of probabilities (rows, labels) against each row's label, int64. Only labels with 10 rows
/// count, and never the first label. Keys: "eval_auroc", "eval_auprc", "eval_f1" (each row is assigned its
/// most probable label), "eval_labels" (the number of labels). Undefined figures are null.
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
    /// The output bias with the lowest loss for a constant prediction, (labels) float64, given the labels'
    /// rates among the drawn samples. For mutually exclusive labels, any multiples of the rates. Labels are
    /// rare, and a step changes a bias by at most the learning rate. Without this start, the layers before
    /// would learn a constant first.
    virtual at::Tensor bias_at(const std::vector<double>& rates) const = 0;
    /// Figures of logits (rows, labels) float32 on the CPU and their truth (as in fit_on_validation()).
    /// `loss`: the result of loss_sum(), divided by the number of summed labels. Returns an object with
    /// "eval_loss" and "eval_auroc".
    virtual Json figures(const at::Tensor& logits, const at::Tensor& truth, double loss) const = 0;
    /// The figures if there are no rows.
    static Json no_figures() { return {{"eval_loss", nullptr}, {"eval_auroc", nullptr}}; }
};

/// Independent labels: binary cross entropy with a sigmoid each. `weights`: weight of positives in the loss,
/// one for all or one per label. Figures: "eval_auroc" and "eval_auprc", over labels as in
/// validation_auroc(). loss_sum() also takes targets of twice the width: 0 and 1 of every label, then a
/// teacher's probabilities p of them, or -1. Where there is a p, the loss is the mean of that of the label
/// and T^2 times the cross entropy of sigmoid(logit / T) and sigmoid(logit(p) / T) with T = 4 (Hinton et al.,
/// arXiv:1503.02531). Most labels are rare: at T = 1 the many bins of low p, whose order AUROC measures,
/// would hardly count.
std::unique_ptr<Target> labels_target(const std::vector<double>& weights, const at::Device& device);
/// Mutually exclusive labels; the first is for bases without a row. The loss is -ln p of the label, with a
/// weight per label.
std::unique_ptr<Target> softmax_target(const std::vector<double>& weights, const at::Device& device);

/// Classes: -ln p of the softmax, with a weight for each class. `smoothing`: share of the target probability
/// that is spread evenly over all classes, in [0, 1). Figures: "eval_auroc" and "eval_auprc" (of the second
/// of two classes, else the mean over the classes), "eval_accuracy" and "eval_mcc" (a row is assigned its
/// most probable class).
std::unique_ptr<Target> classes_target(const std::vector<double>& weights, double smoothing,
                                       const at::Device& device);
/// identity: numbers, which the caller has standardized; the loss is (logit - target)^2. exponential: counts,
/// not standardized; exp(logit) - target * logit, the Poisson distribution's -ln p up to a constant.
/// softplus: coverage of bins, each track divided by its mean over train, with r = ln(1 + exp(logit)) and
/// targets y. poisson: r - y ln r. log_squared: (ln(1 + r) - ln(1 + y))^2. poisson_multinomial (Avsec and
/// others 2021, BPNet; Linder and others 2023, Borzoi), per window and track with the sums R and Y over its
/// counted bins: -sum y ln(r / R), the shape, and 0.2 (R - Y ln R), the total. Figures: "eval_loss",
/// "eval_pearson" and "eval_r2", means over the numbers; "eval_auroc" is null.
std::unique_ptr<Target> numbers_target(LinkFunction link, CoverageLoss loss = CoverageLoss::poisson);

}  // namespace bigbird::tasks
