// SPDX-License-Identifier: Apache-2.0
// Compares the scores of predict-tokens with labeled intervals. Every figure counts bases.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::evaluation {

struct BaseEvaluationRequest {
    std::filesystem::path scores;  ///< table of predict-tokens, or "-"
    std::filesystem::path labels;  ///< BED, column 4
    std::vector<std::filesystem::path> references;
    EvaluationOptions options{};  ///< resamples, block_size, seed and threads
};

struct BaseFigures {
    std::string label;
    std::int64_t bases = 0, called = 0;
    Figure auroc{}, auprc{}, precision{}, recall{}, f1{};
};

struct BaseEvaluation {
    std::int64_t bases = 0;             ///< bases with scores
    std::int64_t blocks = 0;            ///< blocks of genome that hold them
    std::int64_t not_scored = 0;        ///< bases that are N or in no token
    std::vector<BaseFigures> labels{};  ///< in the table's order
    /// Share of bases whose most probable label is right, and that share if all bases were called the most
    /// common label.
    Figure accuracy{};
    std::optional<double> majority{};
    Figure mean_auroc{}, mean_auprc{}, mean_f1{};  ///< over labels except examples::none_label
    rows::Provenance provenance;                   ///< the table's
};

/// A base that several rows score counts once per row. Throws InputError with file and line: a label without
/// a column in the table, rows outside the reference, errors of BaseLabels::read.
BaseEvaluation evaluate_bases(const BaseEvaluationRequest& request);

/// Lines for people: the means, then one per label.
std::vector<std::string> to_lines(const BaseEvaluation& evaluation);
/// A `##all` line with the means, then a line per label.
std::string to_tsv(const BaseEvaluation& evaluation);
Json to_json(const BaseEvaluation& evaluation);

}  // namespace bigbird::evaluation
