// SPDX-License-Identifier: Apache-2.0
// Parts of train's report page that every kind of input has: the judgement, the curves of training, and the
// inputs.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/examples/examples.hpp"

#include <filesystem>
#include <string>

namespace bigbird::tasks {

/// "Better than a linear model: yes. …", "no" or "cannot be told", by the interval of the difference of a
/// figure, model minus floor. The larger the figure the better.
std::string verdict(const std::string& figure, const evaluation::Figure& difference);
/// The verdict of a report of the floor and the model, by AUPRC for peaks, AUROC for other labels and
/// classes, and Pearson's correlation for numbers.
std::string verdict(const evaluation::EvaluationReport& report);

/// A page section with the losses of training and validation and a figure of validation, by step, with the
/// step whose weights were kept; of each member where a run has members. Empty if there are no losses.
std::string curves_html(const std::filesystem::path& run);

/// Rows for the page's last table: program, command, examples (empty, for the recipe), options, checksums of
/// inputs.
Json made_from(const std::string& command, const Json& options, const examples::ExampleSet& set);

}  // namespace bigbird::tasks
