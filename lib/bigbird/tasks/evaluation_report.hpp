// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/json_file.hpp"
#include "bigbird/tasks/evaluation.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// An evaluation with all that its figures depend on, ready to be written.
struct EvaluationReport {
    Evaluation evaluation;
    LabelTable labels;
    Json about;  ///< task, split, parameters, checksums
};

/// Joins, evaluates and says on what. Throws as join_scores and evaluate.
EvaluationReport evaluate_scores(const std::filesystem::path& scores, const std::filesystem::path& examples,
                                 Task task, Split split, const EvaluationOptions& options);

/// Everything. Undefined figures are null; an interval is [low, high].
Json to_json(const EvaluationReport& report);
/// `##key=value` lines (about, and `##group` lines for chromatin), then a table: a line a label for
/// chromatin, a line a figure for promoters; NA where undefined.
std::string to_tsv(const EvaluationReport& report);
/// A few lines for people.
std::vector<std::string> to_lines(const EvaluationReport& report);

/// TSV where the name ends in .tsv (or .tsv.gz), else JSON; "-" is JSON on standard output.
void write_report(const EvaluationReport& report, const std::filesystem::path& output, Overwrite overwrite);

}  // namespace bigbird::tasks
