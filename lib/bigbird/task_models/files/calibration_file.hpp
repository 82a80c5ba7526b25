// SPDX-License-Identifier: Apache-2.0
// calibration.json of a model folder: what finetune-* fitted on validation so that scores are probabilities
// there. A folder without it scores by the logistic function or the softmax alone.
#pragma once

#include "bigbird/evaluation/curves/calibration.hpp"

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

/// Into an existing folder. Throws WriteError.
void write_calibration(const FittedCalibration& fitted, const std::filesystem::path& directory);
/// Nothing where the folder has none. Throws InputError where the file is damaged, of another link function,
/// or of another number of labels.
std::optional<evaluation::Calibration> read_calibration(const std::filesystem::path& directory,
                                                        std::size_t labels,
                                                        LinkFunction link = LinkFunction::logistic);

}  // namespace bigbird::task_models
