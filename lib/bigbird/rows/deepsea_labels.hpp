// SPDX-License-Identifier: Apache-2.0
// DeepSEA's 919 labels (Zhou and Troyanskaya 2015), which are included in the program: 125 DNase (group DHS),
// 690 transcription factors (TF), 104 histone marks (HM). data/deepsea_919.tsv names their source. 54 names
// occur more than once; the index is a label's identity.
#pragma once

#include "bigbird/rows/label_table.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::rows {

/// Figures of a label on the test set, chromosomes 8 and 9, from DeepSEA's Supplementary Table 2.
struct PublishedFigures {
    std::optional<double> roc_auc, average_precision;  ///< none for the label without positives
};

/// The functions of this file are thread-safe.
const LabelTable& deepsea_labels();
const PublishedFigures& deepsea_published(std::size_t index);

/// For each label of a table, the index of the same DeepSEA label: by index if the table has all of DeepSEA's
/// labels, else by a name that is unique in DeepSEA's table; nullopt for other labels.
std::vector<std::optional<std::size_t>> match_deepsea(const LabelTable& labels);

/// The parts of a name "cell|assay|treatment". No-break spaces become blanks. Missing parts are empty.
struct LabelParts {
    std::string cell, assay, treatment;
};
LabelParts parts_of(std::string_view name);

/// Returns a table of labels for people and scripts: `index id group cell assay treatment name positives`,
/// tab-separated, a header and one line per label; `.` where a name lacks a part or the positives are
/// unknown.
std::string label_listing(const LabelTable& labels);

/// data/deepsea_919.tsv.
std::string_view deepsea_labels_text();

}  // namespace bigbird::rows
