// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/evaluation/scan_evaluation.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/rows/deepsea_labels.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

/// One file's figures.
struct FileEvaluation {
    std::string name;
    Evaluation evaluation;
    std::vector<Figure> differences;  ///< to the first file, as differences() gives them; none for the first
    std::string threshold_rule;       ///< how the threshold was chosen; empty for chromatin
};

/// Evaluations, and everything that their figures depend on, for output.
struct EvaluationReport {
    std::vector<FileEvaluation> files;
    rows::LabelTable labels;
    std::vector<std::optional<rows::PublishedFigures>>
        published;  ///< by label of the table; empty: not requested
    std::optional<ScanFigures> scan;
    Json about;  ///< task, split, parameters, checksums
};

using NamedFigures = std::vector<std::pair<std::string, const Figure*>>;
/// auroc_mean, auroc_median, auprc_mean, auprc_median.
NamedFigures figures_of(const GroupFigures& group);
/// auroc, auprc, f1, precision, recall, mcc, accuracy.
NamedFigures figures_of(const LabelFigures& label, const ThresholdFigures& at);
/// A file's differences from the first file, with names as above: those of a group, by its index, or those of
/// promoters. Not for the first file.
NamedFigures differences_of(const FileEvaluation& file, std::size_t group);
NamedFigures differences_of(const FileEvaluation& file);
/// "0.912 [0.880, 0.934]"; NA where undefined.
std::string brief(const Figure& figure);
/// null where undefined.
Json number(const std::optional<double>& value);
/// Sets KEY, and KEY_interval to [low, high].
void put(Json& object, const std::string& key, const Figure& figure);
/// A cell of a table, NA where undefined; and value, low and high, with tabs between them.
std::string cell(const std::optional<double>& value);
std::string cells(const Figure& figure);

/// Everything. Undefined figures are null; an interval is [low, high].
Json to_json(const EvaluationReport& report);
/// `##key=value` lines (about, and `##group` lines for chromatin), then a table: one line per label for
/// chromatin, one per figure for promoters; NA where undefined.
std::string to_tsv(const EvaluationReport& report);
/// A few lines for people.
std::vector<std::string> to_lines(const EvaluationReport& report);

/// TSV where the name ends in .tsv, CSV where it ends in .csv (each also .gz), a page for browsers where it
/// ends in .html, else JSON; "-" is JSON on standard output. Writes the file but does not commit it. Throws
/// ConfigError, WriteError.
std::unique_ptr<genome::TextOutput> write_report(const EvaluationReport& report,
                                                 const std::filesystem::path& output, Overwrite overwrite);

}  // namespace bigbird::evaluation
