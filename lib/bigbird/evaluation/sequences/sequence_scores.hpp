// SPDX-License-Identifier: Apache-2.0
// Scores of sequences joined with their examples.
#pragma once

#include "bigbird/evaluation/score_join.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bigbird::evaluation {

struct ScoredSequences {
    std::vector<std::int64_t> rows;  ///< the split's scored rows in the examples, ascending
    std::vector<float> scores;       ///< (rows, labels of the examples), row by row
    std::int64_t not_scored = 0;     ///< rows of the split that are NA in the table
    std::int64_t lacking = 0;        ///< rows of the split that the table lacks (WantedRows::scored)
    std::int64_t other_rows = 0;     ///< rows of the table that are not in the split
    rows::Provenance provenance;
};

/// Reads a table with a column `id` and one for each class, label or number of the examples, by
/// LabelTable::column_name; others are ignored. CSV, or tabs with `##` lines and a header that begins with #.
/// A row is identified by its id; a table that holds all rows of the examples in order may have ids that
/// repeat in another split. Throws InputError with file and line: no such table, a missing column, a row that
/// repeats or is missing (WantedRows::all), no scored row.
ScoredSequences join_sequence_scores(const examples::ExampleSet& examples, const std::filesystem::path& table,
                                     examples::Split split, WantedRows wanted = WantedRows::all);

/// Restricts several joins of the same split to the rows that all have scores for. Throws InputError if
/// none is left.
void keep_common(std::vector<ScoredSequences>& joined);

}  // namespace bigbird::evaluation
