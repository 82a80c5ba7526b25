// SPDX-License-Identifier: Apache-2.0
// calibration.json of a model folder: what finetune-* fitted on validation so that scores are probabilities
// there. A folder without it scores by the logistic function or the softmax alone.
#pragma once

#include "bigbird/evaluation/curves/calibration.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bigbird::task_models {

inline constexpr const char* calibration_file = "calibration.json";

/// What makes logits probabilities: a function of each, or of all labels that exclude each other.
enum class LinkFunction : std::uint8_t { logistic, softmax };

struct FittedCalibration {
    evaluation::CalibrationFit fit;
    std::int64_t rows = 0;  ///< of validation, or bins, or bases
    LinkFunction link = LinkFunction::logistic;
};

/// Of (rows, labels) logits, float32 on the CPU, and truth, 0 and 1 of any type there. Nothing without rows,
/// and where a logit is not finite.
std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads);
/// Of (bases, labels) logits, float32 on the CPU, and the label of each base, integers there. Nothing as
/// above.
std::optional<FittedCalibration> fit_softmax_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                           int threads);

/// Into an existing folder. Throws WriteError.
void write_calibration(const FittedCalibration& fitted, const std::filesystem::path& directory);
/// Nothing where the folder has none. Throws InputError where the file is damaged, of another link function,
/// or of another number of labels.
std::optional<evaluation::Calibration> read_calibration(const std::filesystem::path& directory,
                                                        std::size_t labels,
                                                        LinkFunction link = LinkFunction::logistic);

/// Makes logits probabilities. Immutable; thread-safe.
class ScoreCalibration {
public:
    /// The logistic function alone.
    ScoreCalibration() = default;
    /// The link function alone.
    explicit ScoreCalibration(LinkFunction link) : link_(link) {}
    ScoreCalibration(const evaluation::Calibration& calibration, const at::Device& device,
                     LinkFunction link = LinkFunction::logistic);

    /// (…, labels) logits on any device -> probabilities of the same type there.
    at::Tensor probabilities(const at::Tensor& logits) const;

private:
    LinkFunction link_ = LinkFunction::logistic;
    double temperature_ = 1;
    at::Tensor biases_;  // (labels) float64 on the model's device; undefined: none
};

}  // namespace bigbird::task_models
