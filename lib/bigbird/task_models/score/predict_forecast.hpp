// SPDX-License-Identifier: Apache-2.0
// Predicts the time, memory and output size of a prediction from a few of its rows.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

struct PredictForecast {
    std::int64_t rows = 0;           ///< rows in the input
    std::int64_t rows_out = 0;       ///< rows of the output table
    std::int64_t windows = 0;        ///< approximate number of windows to score; adjacent rows share them
    std::int64_t passes = 0;         ///< forward passes over a window, for all models and strands
    double share_with_sequence = 1;  ///< share of the tried rows that are not only N
    double seconds = 0;              ///< time for scoring, at the measured rate
    std::int64_t memory = 0;         ///< bytes; peak memory of this process during the measurement
    std::int64_t tried_rows = 0, tried_windows = 0;
    std::vector<std::pair<std::string, std::int64_t>> bytes{};  ///< output size by file extension
};

/// Writes an output of that name with rows and their (rows, labels) scores; none for rows without sequence.
using WriteOutput = std::function<void(const std::filesystem::path& path,
                                       std::span<const rows::RegionRow> rows, std::span<const float> scores)>;

/// Counts all rows, scores some that are spread over them, and writes these in the formats of `endings` to a
/// temporary folder in $TMPDIR. `source` must know its total. `passes_a_window`: models times strands.
/// `by_lines`: the tiles of an input line make one output row. The share of rows with sequence is computed
/// over all kept rows. Scoring ends after about `seconds_of_trial`. Throws Stopped, WriteError and the errors
/// of `source`.
PredictForecast forecast_rows(rows::RowSource& source, RowScorer& scorer, std::int64_t passes_a_window,
                              bool by_lines, const std::vector<std::string>& endings,
                              const WriteOutput& write, double seconds_of_trial, int threads);

/// Text for people, one fact per line.
std::string describe(const PredictForecast& forecast);
Json to_json(const PredictForecast& forecast);

}  // namespace bigbird::task_models
