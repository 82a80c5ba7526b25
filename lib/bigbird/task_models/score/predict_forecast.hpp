// SPDX-License-Identifier: Apache-2.0
// What a prediction will take, told from a few of its rows.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/rows/row_source.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

struct PredictForecast {
    std::int64_t rows = 0;           ///< to be read
    std::int64_t rows_out = 0;       ///< lines of a table
    std::int64_t windows = 0;        ///< that rows with sequence read, about; neighbours share them
    std::int64_t passes = 0;         ///< of a network over a window: models and strands
    double share_with_sequence = 1;  ///< of the rows that were tried; the others are N
    double seconds = 0;              ///< of scoring, at the rate that was measured
    std::int64_t memory = 0;         ///< bytes, the most that this process held while it measured
    std::int64_t tried_rows = 0, tried_windows = 0;
    std::vector<std::pair<std::string, std::int64_t>> bytes{};  ///< of an output with such an ending
};

/// Opens an output of that name; the function that it returns writes a row, or, without one, ends it.
using OpenOutput = std::function<std::function<void(const rows::RegionRow*, std::span<const float>)>(
    const std::filesystem::path&)>;

/// Goes through all rows, scores some that are spread over them, and writes these in the formats of `endings`
/// into a folder of $TMPDIR that is then removed. `source` must know its total. `passes_a_window`: models
/// times strands. `by_lines`: the tiles of a line make one row. Sequence is counted in all rows that were
/// kept; scoring ends after about `seconds_of_trial`. Throws Stopped, WriteError and what the source does.
PredictForecast forecast_rows(rows::RowSource& source, RowScorer& scorer, std::int64_t passes_a_window,
                              bool by_lines, const std::vector<std::string>& endings, const OpenOutput& open,
                              double seconds_of_trial, int threads);

/// 0 to count - 1, so that wherever one stops, those that were met are spread over all.
std::vector<std::size_t> spread_order(std::size_t count);
/// Bytes, the most that this process has held.
std::int64_t most_memory();
/// For people: a line a fact.
std::string describe(const PredictForecast& forecast);
Json to_json(const PredictForecast& forecast);

}  // namespace bigbird::task_models
