// SPDX-License-Identifier: Apache-2.0
// Scores and vectors of rows. Functions write output rows in input order. Memory does not grow with the
// number of rows. Outputs appear only after all rows are written. Each throws InputError, ConfigError,
// DeviceError, WriteError, Stopped.
#pragma once

#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::tasks {

struct PredictReport {
    std::int64_t rows = 0, scored = 0, truncated = 0;  ///< rows of the output
    std::int64_t not_numbers =
        0;                    ///< scored rows with a score that is not a number, because weights overflow
    std::int64_t longer = 0;  ///< scored rows that are longer than a bin of the model
};

/// Writes an output row per input row, of a model that labels bases one per run of bases with equal scores in
/// a window's core, so that a base's scores depend only on the reference and its position. A promoter row's
/// window is around its TSS base (rows::tss_of: the first base, or the last on the minus strand). A chromatin
/// row's window is around its middle.
PredictReport predict(const PredictSpec& spec);

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
/// Estimates the cost of predict() by counting all rows and scoring some of them for about
/// `seconds_of_trial`. Writes no outputs.
PredictForecast forecast_predict(const PredictSpec& spec, double seconds_of_trial = 3);
/// Text for people, one fact per line.
std::string describe(const PredictForecast& forecast);

struct EmbedReport {
    std::int64_t rows = 0, embedded = 0, truncated = 0;
};

/// Writes an output row per input row, or per token. Columns are d0 … d(hidden - 1). Rows of tokens also have
/// `token` (1, 2, …), `token_start`, `token_end` and `piece` after the input row's fields. Start and end are
/// in bases from the window's start, on the strand that was read.
EmbedReport embed(const EmbedSpec& spec);

}  // namespace bigbird::tasks
