// SPDX-License-Identifier: Apache-2.0
// The cost of scoring rows, from a trial on some of them.
#pragma once

#include "bigbird/rows/row.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/scoring/scorers.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// Writes an output of that name with rows and their (rows, labels) scores; none for rows without sequence.
using WriteOutput = std::function<void(const std::filesystem::path& path,
                                       std::span<const rows::RegionRow> rows, std::span<const float> scores)>;

/// Counts all rows, scores some that are spread over them, and writes these in the formats of `endings` to a
/// temporary folder in $TMPDIR. `source` must know its total. `passes_per_window`: models times strands.
/// `by_lines`: the tiles of an input line make one output row. The share of rows with sequence is computed
/// over all kept rows. Scoring ends after about `seconds_of_trial`. Throws Stopped, WriteError and the errors
/// of `source`.
PredictForecast forecast_rows(rows::RowSource& source, RowScorer& scorer, std::int64_t passes_per_window,
                              bool by_lines, const std::vector<std::string>& endings,
                              const WriteOutput& write, double seconds_of_trial, int threads);

}  // namespace bigbird::tasks
