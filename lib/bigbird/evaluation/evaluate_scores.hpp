// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/scan_evaluation.hpp"
#include "bigbird/evaluation/threshold.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::evaluation {

/// A score table and what reports call it.
struct ScoreFile {
    std::string name;
    std::filesystem::path path;
};
/// "NAME=FILE", or a file, which is called by its name without folder and ending. Throws ConfigError where
/// two have one name.
std::vector<ScoreFile> parse_score_files(const std::vector<std::string>& texts);

/// A table's `##` lines. A key that comes several times (the models of an ensemble) gets its values separated
/// by commas.
Json provenance_json(const rows::Provenance& provenance);

struct EvaluationRequest {
    std::vector<ScoreFile> scores;  ///< the others are compared with the first
    std::filesystem::path examples;
    examples::Task task = examples::Task::chromatin;
    examples::Split split = examples::Split::test;
    WantedRows rows = WantedRows::all;
    EvaluationOptions options;        ///< threshold is overruled by the rule
    ThresholdRule threshold;          ///< promoters; f1 and mcc need scores of the rows of validation
    bool published = false;           ///< chromatin: DeepSEA's figures beside ours
    std::optional<ScanOptions> scan;  ///< promoters
};

/// Joins, evaluates and records on what. Several files are evaluated on the rows and labels scored by all.
/// Throws as join_scores and evaluate, and ConfigError where a threshold cannot be found.
EvaluationReport evaluate_scores(const EvaluationRequest& request);

}  // namespace bigbird::evaluation
