// SPDX-License-Identifier: Apache-2.0
// Evaluates scores of labeled sequences, with confidence intervals. Records are resampled one by one, or by
// the groups that the examples give them.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/sequences/sequence_figures.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

/// Data of a picture: the curve of each class or label, or some rows of numbers.
struct SequencePicture {
    std::vector<std::vector<CurvePoint>> curves;
    std::vector<std::vector<std::pair<float, float>>> points;  ///< each number's pairs: predicted, true
};

struct SequenceFile {
    std::string name;
    std::vector<Figure> figures;      ///< in the order of SequenceReport::names
    std::vector<Figure> differences;  ///< to the first file, paired; none for the first
    std::vector<FigureValues> each;   ///< by class, label or number, in the order of names_of_each
    std::vector<std::vector<std::int64_t>> confusion;  ///< classes only: [class][called]
    SequencePicture picture;
};

struct SequenceReport {
    std::vector<std::string> names{}, names_of_each{};
    std::vector<SequenceFile> files{};
    rows::LabelTable labels;
    examples::TargetKind target = examples::TargetKind::classes;
    std::int64_t rows = 0, units = 0;  ///< units are resampled: rows, groups, or blocks of genome
    Json about{};                      ///< task, split, parameters, checksums
    std::string regions{};             ///< of coverage: coverage_regions()
};

/// Several files are evaluated on the rows that all have scores for. `request.threshold` may be given for two
/// classes and for labels. Throws as join_sequence_scores, ConfigError if the threshold does not fit.
SequenceReport evaluate_sequences(const EvaluationRequest& request);

/// The figures of the first file at the top level, each a number, with NAME_low and NAME_high beside it; null
/// if undefined.
Json to_json(const SequenceReport& report);
/// `##key=value` lines, then a line per figure, and one per class, label or number.
std::string to_tsv(const SequenceReport& report);
/// A page for browsers: figures, confusion matrices or scatter plots.
std::string to_html(const SequenceReport& report, const PageAdditions& additions = {});
/// A line per figure, for people.
std::vector<std::string> to_lines(const SequenceReport& report);

}  // namespace bigbird::evaluation
