// SPDX-License-Identifier: Apache-2.0
// calibration.json of a model folder: what finetune-* fitted on the rows of validation so that scores are
// probabilities there. A folder without it scores by the logistic function alone.
#pragma once

#include "bigbird/evaluation/curves/calibration.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bigbird::task_models {

inline constexpr const char* calibration_file = "calibration.json";

struct FittedCalibration {
    evaluation::CalibrationFit fit;
    std::int64_t rows = 0;  ///< of validation, or bins
};

/// Of (rows, labels) logits, float32 on the CPU, and truth, 0 and 1 of any type there. Nothing without rows,
/// and where a logit is not finite.
std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads);

/// Into an existing folder. Throws WriteError.
void write_calibration(const FittedCalibration& fitted, const std::filesystem::path& directory);
/// Nothing where the folder has none. Throws InputError where the file is damaged, or of another number of
/// labels.
std::optional<evaluation::Calibration> read_calibration(const std::filesystem::path& directory,
                                                        std::size_t labels);

/// Makes logits probabilities. Immutable; thread-safe.
class ScoreCalibration {
public:
    /// The logistic function alone.
    ScoreCalibration() = default;
    ScoreCalibration(const evaluation::Calibration& calibration, const at::Device& device);

    /// (…, labels) logits on any device -> probabilities of the same type there.
    at::Tensor probabilities(const at::Tensor& logits) const;

private:
    double temperature_ = 1;
    at::Tensor biases_;  // (labels) float64 on the model's device; undefined: none
};

}  // namespace bigbird::task_models
