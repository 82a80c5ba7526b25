// SPDX-License-Identifier: Apache-2.0
// What a task model's folder holds besides its network: the task, labels.tsv, and calibration.json, which
// fine-tuning fitted on validation so that scores are probabilities there. Without it, scores come from the
// link function only; config.json says whether there is one, so that no copy loses it in silence.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/curves/calibration.hpp"
#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/rows/label_table.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bigbird::tasks {

/// bigbird_dna.task_model of config.json; null if there is none (the model is not for a task). Throws
/// InputError if there is no readable config.json.
Json task_description(const std::filesystem::path& directory);

/// num_labels of config.json. Throws InputError if it has none.
std::int64_t outputs_in(const std::filesystem::path& directory);

/// Throws WriteError.
void write_labels(const rows::LabelTable& labels, const std::filesystem::path& directory);

inline constexpr const char* calibration_file = "calibration.json";
/// In a model folder: the other networks of a cross-validation, 2 …, as model folders.
inline constexpr const char* folds_folder = "folds";

/// Turns logits into probabilities, one by one (logistic) or over mutually exclusive labels (softmax), or
/// into numbers. identity: standardized numbers; exponential: counts; softplus: coverage, ln(1 + exp(logit)),
/// scaled; counts: reads, exp(logit) - 1; strand_counts: reads of two strands, exp(logit) - 2.
enum class LinkFunction : std::uint8_t {
    logistic,
    softmax,
    identity,
    exponential,
    softplus,
    counts,
    strand_counts
};
/// A task model's "link" in config.json.
inline constexpr Choices<LinkFunction, 7> link_words{{{LinkFunction::logistic, "logistic"},
                                                      {LinkFunction::softmax, "softmax"},
                                                      {LinkFunction::identity, "identity"},
                                                      {LinkFunction::exponential, "exponential"},
                                                      {LinkFunction::softplus, "softplus"},
                                                      {LinkFunction::counts, "counts"},
                                                      {LinkFunction::strand_counts, "strand_counts"}}};
/// Whether it gives probabilities, which can be calibrated.
inline bool gives_probabilities(LinkFunction link) {
    return link == LinkFunction::logistic || link == LinkFunction::softmax;
}

/// What exp(logit) is above the number of reads; 0: no such link.
inline double count_offset(LinkFunction link) {
    if (link == LinkFunction::counts) return 1;
    return link == LinkFunction::strand_counts ? 2 : 0;
}

/// The link function of a model with this description.
LinkFunction link_in(const Json& task_description);

/// Scaling of a model's numbers: number = link(logit) * deviation + mean, one of each for every number.
struct Standardisation {
    std::vector<double> mean, deviation;
};

struct FittedCalibration {
    evaluation::CalibrationFit fit;
    std::int64_t rows = 0;  ///< rows, bins or bases of validation
    LinkFunction link = LinkFunction::logistic;
    bool of_bases = false;
};

/// Writes calibration.json into a model's folder, and into its config.json that there is one. Throws
/// InputError, WriteError.
void write_calibration(const FittedCalibration& fitted, const std::filesystem::path& directory);
/// Returns nullopt if the folder has none. Throws InputError if the file is damaged, of another link
/// function, or of another number of labels.
std::optional<evaluation::Calibration> read_calibration(const std::filesystem::path& directory,
                                                        std::size_t labels,
                                                        LinkFunction link = LinkFunction::logistic);

struct TaskFiles {
    rows::LabelTable labels;
    std::optional<evaluation::Calibration> calibration;  ///< only if the link function gives probabilities
};
/// Reads labels.tsv and, if there is one, calibration.json of a network with this number of outputs. Throws
/// InputError where one is damaged or does not fit, or config.json names a calibration.json that is missing.
TaskFiles read_task_files(const std::filesystem::path& directory, std::int64_t outputs, LinkFunction link);
/// Compares the files of a task model with its config.json, as read_task_files() does. Returns false if the
/// model is not for a task.
bool check_task_files(const std::filesystem::path& directory);

/// A model card's entry of a file's evaluation: the defined figures over all labels.
model::CardResult card_figures(const evaluation::EvaluationReport& report,
                               const evaluation::FileEvaluation& file);

}  // namespace bigbird::tasks
