// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/metrics.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::evaluation {

/// A score table and its name in reports.
struct ScoreFile {
    std::string name;
    std::filesystem::path path;
};
/// Parses "NAME=FILE", or a file, whose name is then the file name without folder and ending. Throws
/// ConfigError if two have the same name.
std::vector<ScoreFile> parse_score_files(const std::vector<std::string>& texts);

/// A table's `##` lines. The values of a key that occurs several times (the models of an ensemble) are joined
/// by commas.
Json provenance_json(const rows::Provenance& provenance);

struct EvaluationRequest {
    std::vector<ScoreFile> scores;  ///< the others are compared with the first
    std::filesystem::path examples;
    examples::Task task = examples::Task::chromatin;
    examples::Split split = examples::Split::test;
    WantedRows rows = WantedRows::all;
    EvaluationOptions options;        ///< its threshold is replaced by that of `threshold`
    ThresholdRule threshold;          ///< promoters; f1 and mcc need scores of the rows of validation
    bool published = false;           ///< chromatin: also show DeepSEA's published figures
    std::optional<ScanOptions> scan;  ///< promoters
};

// For the evaluations of all tasks.

/// The error for examples of a task that another command evaluates.
InputError other_task(const EvaluationRequest& request, const examples::ExampleSet& examples);
/// The first fields of EvaluationReport::about, and its SHA-256 sums of scores and examples.
Json about_task(const examples::ExampleSet& examples);
Json checksums_of(const EvaluationRequest& request);

/// Joins scores with labels, evaluates them and records the inputs. Several files are evaluated on the rows
/// and labels that all of them score. Throws as join_scores and evaluate, and ConfigError if a threshold
/// cannot be found.
EvaluationReport evaluate_scores(const EvaluationRequest& request);

}  // namespace bigbird::evaluation
